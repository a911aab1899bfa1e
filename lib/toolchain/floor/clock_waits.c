/* Waiting by the monotonic clock, which glibc has only since 2.30 (libstdc++'s headers wait so): by the other one, whose
 * jumps may end a wait early.  A condition's waiter expects that; for a lock the time is looked at again. */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#define SECOND 1000000000l

/* How long until then, by that clock. */
static struct timespec left(clockid_t clock, const struct timespec *until)
{
	struct timespec now;
	clock_gettime(clock, &now);
	struct timespec t = { until->tv_sec - now.tv_sec, until->tv_nsec - now.tv_nsec };
	if (t.tv_nsec < 0) {
		t.tv_sec--;
		t.tv_nsec += SECOND;
	}
	return t;
}

static struct timespec by_real_time(clockid_t clock, const struct timespec *until)
{
	struct timespec now, t = left(clock, until);
	clock_gettime(CLOCK_REALTIME, &now);
	t.tv_sec += now.tv_sec;
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

#define HIDDEN(name) __asm__(name) __attribute__((visibility("hidden")))
int forge_cond_wait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until) HIDDEN("pthread_cond_clockwait");

int forge_cond_wait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until)
{
	if (is_odd(clock, until))
		return EINVAL;
	struct timespec real = by_real_time(clock, until);
	int rc = pthread_cond_timedwait(c, m, &real);
	return rc == ETIMEDOUT && left(clock, until).tv_sec >= 0 ? 0 : rc;
}

#define LOCK(name, type, by) \
	int forge_##name(type *lock, clockid_t clock, const struct timespec *until) HIDDEN("pthread_" #name); \
	int forge_##name(type *lock, clockid_t clock, const struct timespec *until) \
	{ \
		int rc = EINVAL; \
		while (!is_odd(clock, until)) { \
			struct timespec real = by_real_time(clock, until); \
			rc = by(lock, &real); \
			if (rc != ETIMEDOUT || left(clock, until).tv_sec < 0) \
				break; \
		} \
		return rc; \
	}

LOCK(mutex_clocklock, pthread_mutex_t, pthread_mutex_timedlock)
LOCK(rwlock_clockrdlock, pthread_rwlock_t, pthread_rwlock_timedrdlock)
LOCK(rwlock_clockwrlock, pthread_rwlock_t, pthread_rwlock_timedwrlock)
