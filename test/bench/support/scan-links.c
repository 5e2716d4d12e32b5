/* Reads every link below a directory, and asks whether its target exists: what one thread of C needs. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long found, missing;

static void scan(int parent, const char *name) {
  int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  DIR *entries = directory < 0 ? NULL : fdopendir(directory);
  if (entries == NULL) return;
  char target[4096];
  struct stat status;
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      scan(directory, entry->d_name);
    if (entry->d_type != DT_LNK || readlinkat(directory, entry->d_name, target, sizeof target) < 0) continue;
    found++;
    if (fstatat(directory, entry->d_name, &status, 0) != 0) missing++;
  }
  closedir(entries);
}

int main(int count, char **words) {
  if (count > 1) scan(AT_FDCWD, words[1]);
  printf("%ld %ld\n", found, missing);
  return 0;
}
