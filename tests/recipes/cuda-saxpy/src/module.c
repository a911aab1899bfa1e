#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <limits.h>

#include "saxpy.h"

/* saxpy(a, x, y): x and y are buffers of 4-byte floats of one length; y is changed. */
static PyObject *py_saxpy(PyObject *self, PyObject *args)
{
	float a;
	Py_buffer x, y;
	const char *wrong;
	if (!PyArg_ParseTuple(args, "fy*w*", &a, &x, &y))
		return NULL;
	if (x.len != y.len || x.len % sizeof(float) || x.len / sizeof(float) > INT_MAX / 2)
		wrong = "x and y must be floats of one length";
	else
		wrong = x.len ? saxpy((int)(x.len / sizeof(float)), a, x.buf, y.buf) : NULL;
	PyBuffer_Release(&x);
	PyBuffer_Release(&y);
	if (wrong) {
		PyErr_SetString(PyExc_RuntimeError, wrong);
		return NULL;
	}
	Py_RETURN_NONE;
}

static PyObject *py_device_count(PyObject *self, PyObject *none)
{
	return PyLong_FromLong(saxpy_devices());
}

static PyMethodDef methods[] = {
	{ "saxpy", py_saxpy, METH_VARARGS, "saxpy(a, x, y): y = a*x + y on the GPU" },
	{ "device_count", py_device_count, METH_NOARGS, "GPUs of this machine" },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef module = {
	.m_base = PyModuleDef_HEAD_INIT, .m_name = "cuda_saxpy", .m_size = -1, .m_methods = methods,
};

PyMODINIT_FUNC PyInit_cuda_saxpy(void);

PyMODINIT_FUNC PyInit_cuda_saxpy(void)
{
	return PyModule_Create(&module);
}
