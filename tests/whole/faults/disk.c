/* Simulates a failing disk for tests. Loaded before the C library (LD_PRELOAD), it lets file operations in one
 * directory fail. FAULTS_IN names the directory, and FAULTS_SAID a file with the state of the disk, which is read at each
 * call:
 *
 *   eio      writing, syncing and creating fail
 *   dead     reading fails as well
 *   erofs    as on a disk that is mounted read-only
 *   full     writing fails; files can be created, and stay empty
 *   hang     writing, syncing and creating block until the state changes
 *   hangsync only syncing blocks
 *
 * In any other state the disk works. FAULTS_CLOCK names a file with the seconds by which the computer's clock is ahead
 * of the right time. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum operation { READS, WRITES, SYNCS, MAKES };

static int disk_state_is(const char *word)
{
	char text[16] = "";
	const char *path = getenv("FAULTS_SAID");
	long fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return 0;
	long length = syscall(SYS_read, fd, text, sizeof text - 1);
	syscall(SYS_close, fd);
	return length > 0 && strcmp(text, word) == 0;
}

static int is_in_directory(const char *path)
{
	const char *directory = getenv("FAULTS_IN");
	return directory && path && strncmp(path, directory, strlen(directory)) == 0;
}

static int fd_is_in_directory(int fd)
{
	char link[32], path[4096];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t length = readlink(link, path, sizeof path - 1);
	if (length < 0)
		return 0;
	path[length] = 0;
	return is_in_directory(path);
}

/* Blocks or fails an operation according to the disk's state. Returns nonzero and sets errno if it fails. */
static int fails(enum operation operation)
{
	while ((disk_state_is("hang") && operation != READS) || (disk_state_is("hangsync") && operation == SYNCS)) {
		struct timespec pause = {0, 20 * 1000 * 1000};
		nanosleep(&pause, NULL);
	}
	errno = EIO;
	if (disk_state_is("dead") || (disk_state_is("eio") && operation != READS))
		return 1;
	errno = ENOSPC;
	if (disk_state_is("full") && operation == WRITES)
		return 1;
	errno = EROFS;
	return disk_state_is("erofs") && (operation == WRITES || operation == MAKES);
}

#define ON_FILE(type, name, operation, number, parameters, ...) \
	type name parameters \
	{ \
		if (fd_is_in_directory(fd) && fails(operation)) \
			return -1; \
		return syscall(number, __VA_ARGS__); \
	}
#define BYTES (int fd, void *bytes, size_t size)
#define BYTES_AT (int fd, void *bytes, size_t size, off_t at)
#define OUT (int fd, const void *bytes, size_t size)
#define OUT_AT (int fd, const void *bytes, size_t size, off_t at)

ON_FILE(ssize_t, read, READS, SYS_read, BYTES, fd, bytes, size)
ON_FILE(ssize_t, pread, READS, SYS_pread64, BYTES_AT, fd, bytes, size, at)
ON_FILE(ssize_t, pread64, READS, SYS_pread64, BYTES_AT, fd, bytes, size, at)
ON_FILE(ssize_t, write, WRITES, SYS_write, OUT, fd, bytes, size)
ON_FILE(ssize_t, pwrite, WRITES, SYS_pwrite64, OUT_AT, fd, bytes, size, at)
ON_FILE(ssize_t, pwrite64, WRITES, SYS_pwrite64, OUT_AT, fd, bytes, size, at)
ON_FILE(int, ftruncate, WRITES, SYS_ftruncate, (int fd, off_t size), fd, size)
ON_FILE(int, ftruncate64, WRITES, SYS_ftruncate, (int fd, off_t size), fd, size)
ON_FILE(int, fsync, SYNCS, SYS_fsync, (int fd), fd)
ON_FILE(int, fdatasync, SYNCS, SYS_fdatasync, (int fd), fd)

#define ON_PATH(name, at, path, parameters, ...) \
	int name parameters \
	{ \
		int writes = (flags & (O_CREAT | O_TRUNC)) || (flags & O_ACCMODE) != O_RDONLY; \
		mode_t mode = 0; \
		if (flags & O_CREAT) { \
			va_list rest; \
			va_start(rest, flags); \
			mode = va_arg(rest, mode_t); \
			va_end(rest); \
		} \
		if (is_in_directory(path) && fails(writes ? MAKES : READS)) \
			return -1; \
		return syscall(SYS_openat, at, path, flags, mode); \
	}

ON_PATH(open, AT_FDCWD, path, (const char *path, int flags, ...))
ON_PATH(open64, AT_FDCWD, path, (const char *path, int flags, ...))
ON_PATH(openat, at, path, (int at, const char *path, int flags, ...))
ON_PATH(openat64, at, path, (int at, const char *path, int flags, ...))

int clock_gettime(clockid_t clock, struct timespec *at)
{
	long result = syscall(SYS_clock_gettime, clock, at);
	const char *path = getenv("FAULTS_CLOCK");
	if (result != 0 || clock != CLOCK_REALTIME || !path)
		return result;
	char text[24] = "";
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		syscall(SYS_read, fd, text, sizeof text - 1);
		syscall(SYS_close, fd);
	}
	at->tv_sec += atoll(text);
	return 0;
}

int mkdir(const char *path, mode_t mode)
{
	if (is_in_directory(path) && fails(MAKES))
		return -1;
	return syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int unlink(const char *path)
{
	if (is_in_directory(path) && fails(MAKES))
		return -1;
	return syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int rename(const char *from, const char *to)
{
	if (is_in_directory(from) && fails(MAKES))
		return -1;
	return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
