#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void parse_bitmap(const char *text, unsigned char *bytes) {
    memset(bytes, 0, BITMAP_BYTES);
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    guint count = g_strv_length(words);
    for (guint i = 0; i < count && i * 8 + 8 <= BITMAP_BYTES; i++) {
        guint64 word = g_ascii_strtoull(words[count - 1 - i], NULL, 16);
        memcpy(bytes + i * 8, &word, 8);
    }
}

static char *path_of(UMockdevTestbed *bed, const char *folder, const char *name) {
    g_autofree char *root = umockdev_testbed_get_root_dir(bed);
    return g_build_filename(root, folder, name, NULL);
}

// Writes an answer into the caller's memory; the result of the ioctl is its length, as for the EVIOCG… family.
static void answer(UMockdevIoctlClient *client, gsize size, const void *bytes, gsize length) {
    g_autoptr(GError) error = NULL;
    length = MIN(length, size);
    if (length > 0) {
        UMockdevIoctlData *data =
            umockdev_ioctl_data_resolve(umockdev_ioctl_client_get_arg(client), 0, size, &error);
        if (data == NULL) {
            umockdev_ioctl_client_complete(client, -1, EFAULT);
            return;
        }
        umockdev_ioctl_data_update(data, 0, (guint8 *)bytes, (gint)length);
        umockdev_ioctl_data_unref(data);
    }
    umockdev_ioctl_client_complete(client, (glong)length, 0);
}

static void answer_evdev(struct node *node, UMockdevIoctlClient *client, unsigned long request) {
    static const unsigned char zeros[BITMAP_BYTES];
    const struct evdev_face *face = &node->face;
    unsigned number = _IOC_NR(request);
    gsize size = _IOC_SIZE(request);
    if (request == EVIOCGVERSION) {
        int version = EV_VERSION;
        answer(client, size, &version, sizeof version);
    } else if (request == EVIOCGID) {
        answer(client, size, &face->id, sizeof face->id);
    } else if (number == _IOC_NR(EVIOCGNAME(0))) {
        answer(client, size, face->name, strlen(face->name) + 1);
    } else if (number == _IOC_NR(EVIOCGPROP(0))) {
        answer(client, size, face->properties, BITMAP_BYTES);
    } else if (number >= _IOC_NR(EVIOCGKEY(0)) && number <= _IOC_NR(EVIOCGSW(0))) {
        answer(client, size, zeros, BITMAP_BYTES);
    } else if (number >= 0x20 && number < 0x20 + EVENT_TYPES) {
        answer(client, size, face->bits[number - 0x20], BITMAP_BYTES);
    } else if (number >= 0x40 && number < 0x40 + ABS_CNT && _IOC_DIR(request) == _IOC_READ) {
        answer(client, size, &face->axes[number - 0x40], sizeof(struct input_absinfo));
    } else if (request == EVIOCSCLOCKID || request == EVIOCGRAB) {
        umockdev_ioctl_client_complete(client, 0, 0);
    } else {
        // No physical location, no unique name: the kernel says ENOENT for these.
        umockdev_ioctl_client_complete(client, -1, ENOENT);
    }
}

static gboolean did_get_ioctl(UMockdevIoctlBase *base, UMockdevIoctlClient *client, struct node *node) {
    (void)base;
    unsigned long request = umockdev_ioctl_client_get_request(client);
    g_mutex_lock(&node->lock);
    gboolean handled = TRUE;
    if (node->is_gone) {
        umockdev_ioctl_client_complete(client, -1, ENODEV);
    } else if (node->is_input && _IOC_TYPE(request) == 'E') {
        answer_evdev(node, client, request);
    } else {
        handled = FALSE;
    }
    g_mutex_unlock(&node->lock);
    return handled;
}

// Lets the program read, and counts.
static gboolean did_get_read(UMockdevIoctlBase *base, UMockdevIoctlClient *client, struct node *node) {
    (void)base;
    g_autoptr(GError) error = NULL;
    g_mutex_lock(&node->lock);
    gboolean is_gone = node->is_gone;
    g_mutex_unlock(&node->lock);
    int code = ENODEV;
    int count = is_gone ? -1 : umockdev_ioctl_client_execute(client, &code, &error);
    if (error != NULL) {
        count = -1;
        code = EIO;
    }
    umockdev_ioctl_client_complete(client, count, code);
    if (count > 0) {
        g_mutex_lock(&node->lock);
        node->unread -= count;
        g_mutex_unlock(&node->lock);
    }
    return TRUE;
}

// A pipe: it keeps what is written at once in one piece, and splits it only where that is asked for. (umockdev's own
// nodes are terminals, which split anywhere, also where no kernel does, and on which its realpath() goes astray.)
static gboolean open_pipe(struct node *node, const char *path) {
    if (mkfifo(path, 0600) != 0) return FALSE;
    // Open on both sides, so that bytes wait for a reader, and a reader without bytes waits.
    node->hardware = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return node->hardware >= 0;
}

struct node *node_create(
    UMockdevTestbed *bed, const char *name, const char *devpath, gboolean is_again, const char **problem) {
    struct node *node = g_new0(struct node, 1);
    node->name = g_strdup(name);
    node->devpath = g_strdup(devpath);
    node->is_input = g_str_has_prefix(name, "input/");
    node->face.name = g_strdup("");
    g_mutex_init(&node->lock);

    g_autofree char *path = path_of(bed, "dev", name);
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *in_bed = g_build_filename("/dev", name, NULL);
    g_autoptr(GError) error = NULL;
    *problem = NULL;
    g_mkdir_with_parents(folder, 0755);
    if (!open_pipe(node, path)) {
        *problem = g_strerror(errno);
        return NULL;
    }
    if (is_again) umockdev_testbed_detach_ioctl(bed, in_bed, NULL);
    node->handler = umockdev_ioctl_base_new();
    g_signal_connect(node->handler, "handle-ioctl", G_CALLBACK(did_get_ioctl), node);
    g_signal_connect(node->handler, "handle-read", G_CALLBACK(did_get_read), node);
    if (!umockdev_testbed_attach_ioctl(bed, in_bed, node->handler, &error)) {
        *problem = "nobody can answer its ioctls";
        return NULL;
    }
    // A program that may open the node has to reach the socket, or the preloaded library ends the program.
    g_autofree char *socket = path_of(bed, "ioctl/dev", name);
    chmod(socket, 0777);
    return node;
}

void node_remove(UMockdevTestbed *bed, struct node *node, gboolean hang_up) {
    g_autofree char *path = path_of(bed, "dev", node->name);
    g_autofree char *flat = g_strdelimit(g_strdup(node->name), "/", '_');
    g_autofree char *number = path_of(bed, "dev/.node", flat);
    unlink(path);
    unlink(number);
    g_mutex_lock(&node->lock);
    node->is_gone = TRUE;
    g_mutex_unlock(&node->lock);
    if (!hang_up) return;
    close(node->hardware);
    node->hardware = -1;
}
