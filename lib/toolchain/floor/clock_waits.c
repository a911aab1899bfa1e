/* Waiting by the monotonic clock, which glibc has only since 2.30 and libstdc++'s headers do. Where the system has the
 * function, that is called; else it is waited by the other clock, whose jumps may make a wait shorter or longer: for one
 * that ended early the time is looked at again. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

#define SECOND 1000000000l
#define FOREVER (1l << 40) /* seconds: what a clock can be added to */

/* How long until then, by that clock. */
static struct timespec left(clockid_t clock, const struct timespec *until)
{
	struct timespec now, t;
	clock_gettime(clock, &now);
	if (__builtin_sub_overflow(until->tv_sec, now.tv_sec, &t.tv_sec))
		t.tv_sec = until->tv_sec < 0 ? -FOREVER : FOREVER;
	t.tv_nsec = until->tv_nsec - now.tv_nsec;
	if (t.tv_nsec < 0) {
		t.tv_sec--;
		t.tv_nsec += SECOND;
	}
	if (t.tv_sec > FOREVER)
		t.tv_sec = FOREVER;
	return t;
}

static int is_over(clockid_t clock, const struct timespec *until)
{
	return left(clock, until).tv_sec < 0;
}

static struct timespec by_real_time(clockid_t clock, const struct timespec *until)
{
	struct timespec now, t = left(clock, until);
	clock_gettime(CLOCK_REALTIME, &now);
	t.tv_sec = t.tv_sec < 0 ? 0 : t.tv_sec + now.tv_sec;
	t.tv_nsec += now.tv_nsec;
	if (t.tv_nsec >= SECOND) {
		t.tv_sec++;
		t.tv_nsec -= SECOND;
	}
	return t;
}

static int is_odd(clockid_t clock, const struct timespec *until)
{
	return (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || until->tv_nsec < 0 || until->tv_nsec >= SECOND;
}

#define HIDDEN(name) __asm__(name) __attribute__((visibility("hidden"), weak))
int forge_cond_wait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until) HIDDEN("pthread_cond_clockwait");

int forge_cond_wait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until)
{
	int (*own)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *) = dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
	if (own)
		return own(c, m, clock, until);
	if (is_odd(clock, until))
		return EINVAL;
	struct timespec real = by_real_time(clock, until);
	int rc = pthread_cond_timedwait(c, m, &real);
	return rc == ETIMEDOUT && !is_over(clock, until) ? 0 : rc; /* who waits for a condition expects to be woken for nothing */
}

#define LOCK(name, type, by) \
	int forge_##name(type *lock, clockid_t clock, const struct timespec *until) HIDDEN("pthread_" #name); \
	int forge_##name(type *lock, clockid_t clock, const struct timespec *until) \
	{ \
		int (*own)(type *, clockid_t, const struct timespec *) = dlsym(RTLD_DEFAULT, "pthread_" #name), rc; \
		if (own) \
			return own(lock, clock, until); \
		if (is_odd(clock, until)) \
			return EINVAL; \
		do { \
			struct timespec real = by_real_time(clock, until); \
			rc = by(lock, &real); \
		} while (rc == ETIMEDOUT && !is_over(clock, until)); \
		return rc; \
	}

LOCK(mutex_clocklock, pthread_mutex_t, pthread_mutex_timedlock)
LOCK(rwlock_clockrdlock, pthread_rwlock_t, pthread_rwlock_timedrdlock)
LOCK(rwlock_clockwrlock, pthread_rwlock_t, pthread_rwlock_timedwrlock)
