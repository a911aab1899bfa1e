#ifndef SAXPY_H
#define SAXPY_H

#ifdef __cplusplus
extern "C" {
#endif

/* y[i] += a * x[i] for i < n, on the GPU; NULL, or what went wrong. */
const char *saxpy(int n, float a, const float *x, float *y);
/* GPUs of this machine; 0 also where there is no driver. */
int saxpy_devices(void);

#ifdef __cplusplus
}
#endif
#endif
