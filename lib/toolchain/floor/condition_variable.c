/* std::condition_variable::wait(std::unique_lock<std::mutex> &): another version of it since gcc 12 (GLIBCXX_3.4.30),
 * which differs in what it promises not to throw. */
__asm__(".symver old_wait,_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");
void old_wait(void *condition, void *lock);
void forge_wait(void *condition, void *lock)
	__asm__("_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE") __attribute__((visibility("hidden"), weak));

void forge_wait(void *condition, void *lock)
{
	old_wait(condition, lock);
}
