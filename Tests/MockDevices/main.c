// A world of mock devices, in which the program under test runs with the real libudev and the real libevdev.
//
// It obeys commands on standard input, one a line, and answers each with "ok" and perhaps a value, or "error" and the
// reason. Fields are separated by tabs; in a field \t, \n, \\ and octal escapes (\377) stand for bytes.
//
//   add FILE                          devices, described in umockdev's format, with their nodes and an event "add"
//   announce ACTION DEVPATH           one more udev event
//   unplug DEVPATH silent|hangup      takes a device away as the kernel does: node and class link, event, attributes;
//                                     a read then gives ENODEV, and a wait for it ends or does not
//   axis NODE AXIS…                   what EVIOCGABS says from now on; as in an X line of a description
//   write NODE HEX                    bytes from the hardware, all at once
//   unread NODE                       says how many bytes have not been read yet
//   spawn UID OUTPUT ERRORS ARGUMENT… starts a program, as another user unless UID is -; says its process number
//   wait PID                          waits for its end: "exit STATUS" or "signal NUMBER"
//
// What can be done with files alone needs no command: "ok" and the test bed's folder is the first line it says.

#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// An eternity, even for a busy machine: a wait that is longer has failed.
#define PATIENCE_MS 60000

static UMockdevTestbed *bed;
static GPtrArray *nodes;
static GArray *children;

static void say(const char *format, ...) G_GNUC_PRINTF(1, 2);
static void say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

static void pause_ms(int milliseconds) { poll(NULL, 0, milliseconds); }

static struct node *find_node(const char *name) {
    // The newest first: a device that came back has the name of the one that went.
    for (guint i = nodes->len; i > 0; i--) {
        struct node *node = g_ptr_array_index(nodes, i - 1);
        if (strcmp(node->name, name) == 0) return node;
    }
    return NULL;
}

// The part of an attribute line "A: name=value" behind the equals sign, if it is that attribute's.
static const char *attribute_value(const char *line, const char *name) {
    gsize length = strlen(name);
    if (!g_str_has_prefix(line, "A: ") || strncmp(line + 3, name, length) != 0 || line[3 + length] != '=') return NULL;
    return line + 4 + length;
}

// Lets an input device answer ioctls with what its attributes in sysfs say.
static void learn_face(struct evdev_face *face, const char *line) {
    static const struct {
        const char *name;
        int type;
    } capabilities[] = {
        {"capabilities/ev", 0},        {"capabilities/key", EV_KEY}, {"capabilities/rel", EV_REL},
        {"capabilities/abs", EV_ABS},  {"capabilities/msc", EV_MSC},
    };
    const char *value;
    for (gsize i = 0; i < G_N_ELEMENTS(capabilities); i++) {
        value = attribute_value(line, capabilities[i].name);
        if (value != NULL) parse_bitmap(value, face->bits[capabilities[i].type]);
    }
    if ((value = attribute_value(line, "properties")) != NULL) parse_bitmap(value, face->properties);
    if ((value = attribute_value(line, "id/bustype")) != NULL) face->id.bustype = strtoul(value, NULL, 16);
    if ((value = attribute_value(line, "id/vendor")) != NULL) face->id.vendor = strtoul(value, NULL, 16);
    if ((value = attribute_value(line, "id/product")) != NULL) face->id.product = strtoul(value, NULL, 16);
    if ((value = attribute_value(line, "id/version")) != NULL) face->id.version = strtoul(value, NULL, 16);
    if ((value = attribute_value(line, "name")) != NULL) {
        g_free(face->name);
        face->name = g_strchomp(g_strcompress(value));
    }
}

// "AXIS VALUE MIN MAX FUZZ FLAT RESOLUTION"
static void set_axis(struct evdev_face *face, const char *text) {
    int numbers[7] = {0};
    sscanf(text, "%d %d %d %d %d %d %d", &numbers[0], &numbers[1], &numbers[2], &numbers[3], &numbers[4], &numbers[5],
        &numbers[6]);
    if (numbers[0] < 0 || numbers[0] >= ABS_CNT) return;
    face->axes[numbers[0]] =
        (struct input_absinfo){numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6]};
}

// Makes the devices of a description, which may have lines of ours: "X: AXIS VALUE MIN MAX FUZZ FLAT RESOLUTION".
//
// The nodes are ours, too, because umockdev's own could not be plugged in a second time; and they come first, because
// umockdev tells the programs that listen that a device was added.
static gboolean add_nodes(char **lines) {
    const char *devpath = NULL;
    struct evdev_face face = {.name = g_strdup("")};
    for (char **line = lines; *line != NULL; line++) {
        if (g_str_has_prefix(*line, "X: ")) set_axis(&face, *line + 3);
        learn_face(&face, *line);
    }
    for (char **line = lines; *line != NULL; line++) {
        if (g_str_has_prefix(*line, "P: ")) devpath = *line + 3;
        if (!g_str_has_prefix(*line, "N: ")) continue;
        const char *problem;
        struct node *node = node_create(bed, *line + 3, devpath, find_node(*line + 3) != NULL, &problem);
        if (node == NULL) {
            say("error %s: %s", *line + 3, problem);
            return FALSE;
        }
        if (node->is_input) node->face = face;
        g_ptr_array_add(nodes, node);
    }
    return TRUE;
}

static void add(const char *file) {
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    if (!g_file_get_contents(file, &text, NULL, &error)) {
        say("error %s", error->message);
        return;
    }
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    if (!add_nodes(lines)) return;
    g_autoptr(GString) rest = g_string_new(NULL);
    for (char **line = lines; *line != NULL; line++) {
        gboolean is_ours = g_str_has_prefix(*line, "N: ") || g_str_has_prefix(*line, "X: ");
        if (!is_ours) g_string_append_printf(rest, "%s\n", *line);
    }
    while (rest->len > 0 && rest->str[rest->len - 1] == '\n') g_string_truncate(rest, rest->len - 1);
    g_string_append_c(rest, '\n');
    if (umockdev_testbed_add_from_string(bed, rest->str, &error)) say("ok");
    else say("error %s", error->message);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

// In the kernel's order. umockdev's own removal would send a second event, in some versions.
static void unplug(const char *devpath, gboolean hang_up) {
    static const char *const folders[] = {"sys/bus/iio/devices", "sys/class/iio", "sys/class/input"};
    g_autofree char *root = umockdev_testbed_get_root_dir(bed);
    g_autofree char *name = g_path_get_basename(devpath);
    for (gsize i = 0; i < G_N_ELEMENTS(folders); i++) {
        g_autofree char *link = g_build_filename(root, folders[i], name, NULL);
        unlink(link);
    }
    for (guint i = nodes->len; i > 0; i--) {
        struct node *node = g_ptr_array_index(nodes, i - 1);
        if (strcmp(node->devpath, devpath) != 0) continue;
        node_remove(bed, node, hang_up);
        break;
    }
    g_autofree char *syspath = g_strconcat("/sys", devpath, NULL);
    g_autofree char *folder = g_strconcat(root, syspath, NULL);
    g_autofree char *number_file = g_build_filename(folder, "dev", NULL);
    g_autofree char *number = NULL;
    umockdev_testbed_uevent(bed, syspath, "remove");
    if (g_file_get_contents(number_file, &number, NULL, NULL)) {
        g_autofree char *link = g_build_filename(root, "sys/dev/char", number, NULL);
        unlink(link);
    }
    if (nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0) say("ok");
    else say("error %s: %s", folder, g_strerror(errno));
}

static gint64 unread_count(struct node *node) {
    g_mutex_lock(&node->lock);
    gint64 count = node->unread;
    g_mutex_unlock(&node->lock);
    return count;
}

static gboolean write_all(struct node *node, const guint8 *bytes, gsize count) {
    g_mutex_lock(&node->lock);
    node->unread += (gint64)count;
    g_mutex_unlock(&node->lock);
    while (count > 0) {
        ssize_t written = write(node->hardware, bytes, count);
        if (written < 0 && errno != EAGAIN && errno != EINTR) return FALSE;
        if (written <= 0) {
            struct pollfd ready = {node->hardware, POLLOUT, 0};
            if (poll(&ready, 1, PATIENCE_MS) <= 0) return FALSE;
            continue;
        }
        bytes += written;
        count -= (gsize)written;
    }
    return TRUE;
}

static void write_hex(struct node *node, const char *hex) {
    gsize count = strlen(hex) / 2;
    g_autofree guint8 *bytes = g_malloc(count + 1);
    for (gsize i = 0; i < count; i++) {
        bytes[i] = (guint8)(g_ascii_xdigit_value(hex[2 * i]) << 4 | g_ascii_xdigit_value(hex[2 * i + 1]));
    }
    if (write_all(node, bytes, count)) say("ok");
    else say("error write: %s", g_strerror(errno));
}

// Opens everything before it changes the user, who may have no way to the program's folder.
static void spawn(const char *user, const char *output, const char *errors, char **arguments) {
    int program = open(arguments[0], O_RDONLY);
    int nowhere = open("/dev/null", O_RDONLY);
    int out = open(output, O_WRONLY | O_APPEND);
    int err = open(errors, O_WRONLY | O_APPEND);
    if (program < 0 || nowhere < 0 || out < 0 || err < 0) {
        say("error %s, %s or %s: %s", arguments[0], output, errors, g_strerror(errno));
        return;
    }
    g_autofree char *folder = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *parent = folder == NULL ? NULL : g_path_get_dirname(folder);
    // In front of umockdev's, which passes on what it does not know.
    g_autofree char *preloaded =
        g_strconcat(parent == NULL ? "." : parent, "/libMockEvents.so:", g_getenv("LD_PRELOAD"), NULL);
    uid_t uid = strcmp(user, "-") == 0 ? geteuid() : (uid_t)strtoul(user, NULL, 10);
    pid_t child = fork();
    if (child == 0) {
        dup2(nowhere, 0);
        dup2(out, 1);
        dup2(err, 2);
        if (uid != geteuid() && (setgroups(0, NULL) != 0 || setgid(uid) != 0 || setuid(uid) != 0)) _exit(125);
        for (int descriptor = 3; descriptor < 256; descriptor++) {
            if (descriptor != program) close(descriptor);
        }
        fcntl(program, F_SETFD, FD_CLOEXEC);
        // Another user may have no way to the library's folder either.
        if (uid == geteuid()) setenv("LD_PRELOAD", preloaded, 1);
        fexecve(program, arguments, environ);
        _exit(126);
    }
    close(program);
    close(nowhere);
    close(out);
    close(err);
    if (child < 0) {
        say("error fork: %s", g_strerror(errno));
        return;
    }
    g_array_append_val(children, child);
    say("ok %d", (int)child);
}

static void wait_for(pid_t child) {
    int status = 0;
    for (int waited = 0; waited < PATIENCE_MS; waited += 2) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended < 0) {
            say("error %d: %s", (int)child, g_strerror(errno));
            return;
        }
        if (ended == child) {
            for (guint i = 0; i < children->len; i++) {
                if (g_array_index(children, pid_t, i) == child) g_array_remove_index_fast(children, i--);
            }
            if (WIFSIGNALED(status)) say("ok signal %d", WTERMSIG(status));
            else say("ok exit %d", WEXITSTATUS(status));
            return;
        }
        pause_ms(2);
    }
    say("error %d does not end", (int)child);
}

static void obey(char **words, guint count) {
    const char *command = words[0];
    if (strcmp(command, "add") == 0 && count == 2) {
        add(words[1]);
    } else if (strcmp(command, "announce") == 0 && count == 3) {
        g_autofree char *syspath = g_strconcat("/sys", words[2], NULL);
        umockdev_testbed_uevent(bed, syspath, words[1]);
        say("ok");
    } else if (strcmp(command, "unplug") == 0 && count == 3) {
        unplug(words[1], strcmp(words[2], "hangup") == 0);
    } else if (strcmp(command, "spawn") == 0 && count >= 5) {
        spawn(words[1], words[2], words[3], words + 4);
    } else if (strcmp(command, "wait") == 0 && count == 2) {
        wait_for((pid_t)strtol(words[1], NULL, 10));
    } else {
        struct node *node = count > 1 ? find_node(words[1]) : NULL;
        if (node == NULL) {
            say("error no such command, or no such node");
        } else if (strcmp(command, "axis") == 0 && count == 3) {
            g_mutex_lock(&node->lock);
            set_axis(&node->face, words[2]);
            g_mutex_unlock(&node->lock);
            say("ok");
        } else if (strcmp(command, "write") == 0 && count == 3) {
            write_hex(node, words[2]);
        } else if (strcmp(command, "unread") == 0) {
            say("ok %" G_GINT64_FORMAT, unread_count(node));
        } else {
            say("error no such command");
        }
    }
}

int main(int count, char **arguments) {
    (void)count;
    const char *preloaded = getenv("LD_PRELOAD");
    if (preloaded == NULL || strstr(preloaded, "libumockdev-preload") == NULL) {
        setenv("LD_PRELOAD", "libumockdev-preload.so.0", 1);
        execv("/proc/self/exe", arguments);
        say("error cannot start anew: %s", g_strerror(errno));
        return EXIT_FAILURE;
    }
    signal(SIGPIPE, SIG_IGN);
    umask(022);
    bed = umockdev_testbed_new();
    nodes = g_ptr_array_new();
    children = g_array_new(FALSE, FALSE, sizeof(pid_t));
    g_autofree char *root = umockdev_testbed_get_root_dir(bed);
    // The test bed's own /sys is empty as yet.
    if (access("/sys/devices", F_OK) == 0) {
        say("error libumockdev-preload.so.0 was not loaded; install the package umockdev");
        return EXIT_FAILURE;
    }
    // Another user's process listens for udev events in this folder.
    chmod(root, 0777);
    say("ok %s", root);

    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        line[strcspn(line, "\n")] = '\0';
        g_auto(GStrv) words = g_strsplit(line, "\t", -1);
        guint number = g_strv_length(words);
        for (guint i = 0; i < number; i++) {
            char *plain = g_strcompress(words[i]);
            g_free(words[i]);
            words[i] = plain;
        }
        if (number > 0) obey(words, number);
    }
    for (guint i = 0; i < children->len; i++) kill(g_array_index(children, pid_t, i), SIGKILL);
    g_object_unref(bed);
    return EXIT_SUCCESS;
}
