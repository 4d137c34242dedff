// A clock that can be set for one process: loaded before the C library, it adds to the time of day as many microseconds
// as stand in the file that FAULTS_CLOCK names (8 bytes in the machine's order), and looks there at each call.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *offset;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAULTS_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  void *mapped = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) abort(); // a test that moves no clock must not pass
  offset = mapped;
}

int clock_gettime(clockid_t id, struct timespec *t) {
  if (syscall(SYS_clock_gettime, id, t) != 0) return -1;
  if (id != CLOCK_REALTIME || !offset) return 0;
  int64_t micros = (int64_t)t->tv_sec * 1000000 + t->tv_nsec / 1000 + *offset;
  t->tv_sec = micros / 1000000;
  t->tv_nsec = micros % 1000000 * 1000;
  return 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  t->tv_sec = now.tv_sec;
  t->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *t) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (t) *t = now.tv_sec;
  return now.tv_sec;
}
