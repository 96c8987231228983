// toml++ (3.3 and 3.4) asserts before it reports some syntax errors ("[[[" for example), and with NDEBUG it declares these
// cases unreachable. Here an invalid text is a regular result, so that both are disabled.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
// The parser recurses for each nested value; no configuration needs 32 levels.
#define TOML_MAX_NESTED_VALUES 32
#define TOML_ENABLE_FORMATTERS 0

// Its test for white space declares U+FB26 to U+FEFE, among them Arabic letters, unreachable (found by fuzzing), although
// the result has to be false. Elsewhere the macro keeps its meaning.
#if __has_include(<toml++/impl/unicode.hpp>)  // since 3.4
#include <toml++/impl/forward_declarations.hpp>
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE return false
#include <toml++/impl/unicode.hpp>
#else
#include <toml++/impl/forward_declarations.h>
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE return false
#include <toml++/impl/unicode.h>
#endif
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE __builtin_unreachable()
#include <toml++/toml.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ctoml.h"

static_assert(TOML_EXCEPTIONS == 0, "an exception must not cross into Swift");

/// A value with its key, and its children sorted by position, because toml++ sorts tables by name.
struct ctoml_node {
    const toml::node *value;
    const toml::key *key;
    std::vector<ctoml_node> children;
};

struct ctoml_document {
    toml::table table;
    ctoml_node root{};
    std::string message;
    ctoml_position position{1, 1};
    bool failed = false;
};

namespace {

/// The maximum number of dots in a key.
constexpr int ctoml_most_dots = 15;

ctoml_position ctoml_convert(const toml::source_position &position) noexcept
{
    return {std::max<uint32_t>(position.line, 1), std::max<uint32_t>(position.column, 1)};
}

/// Reads a text once before toml++ does: finds the first key with too many dots, because toml++ creates a nested table for every
/// dot, without a limit, and leaves out the text of comments, which toml++ reads slowly.
///
/// It recognises strings and comments as TOML defines them. At a violation of these rules toml++ stops as well, so that
/// what follows never becomes a table.
class Preparation {
public:
    Preparation(const char *bytes, size_t length) noexcept : bytes(bytes), length(length) {}

    /// The text with its comments empty, whose positions are the same; valid after `find` returned false.
    std::string text;

    /// Whether there is a key with too many dots; `position` is then where it exceeds the limit.
    bool find(ctoml_position &position)
    {
        int dots = 0;
        text.reserve(length);
        while (index < length) {
            const char byte = bytes[index];
            switch (byte) {
            case '#':
                skip_comment();
                continue;
            case '"':
            case '\'':
                skip_string(byte);
                continue;
            case '.':
                if (++dots > ctoml_most_dots) {
                    position = place();
                    return true;
                }
                break;
            case ',':
            case '=':
            case '{':
            case '}':
            case '[':
            case ']':
            case '\n':
                dots = 0;
                break;
            default:
                break;
            }
            ++index;
        }
        text.append(bytes + taken, length - taken);
        return false;
    }

private:
    const char *bytes;
    size_t length;
    size_t index = 0;
    /// How much of the bytes is in the text, or left out.
    size_t taken = 0;

    /// Removes the text of a comment of printable ASCII and tabs that has a line end; toml++ checks every other one.
    void skip_comment()
    {
        const size_t begin = ++index;
        bool is_plain = true;
        for (; index < length && bytes[index] != '\n'; ++index) {
            const bool ends_line = bytes[index] == '\r' && index + 1 < length && bytes[index + 1] == '\n';
            if (ends_line) break;
            is_plain = is_plain && (bytes[index] == '\t' || (bytes[index] >= ' ' && bytes[index] <= '~'));
        }
        if (!is_plain || index == length) return;
        text.append(bytes + taken, begin - taken);
        taken = index;
    }

    bool repeats(char quote, size_t count) const noexcept
    {
        if (length - index < count) return false;
        for (size_t offset = 0; offset < count; ++offset)
            if (bytes[index + offset] != quote) return false;
        return true;
    }

    void skip_string(char quote) noexcept
    {
        const bool is_long = repeats(quote, 3);
        index += is_long ? 3 : 1;
        while (index < length) {
            if (bytes[index] == '\\' && quote == '"') {
                index += 2;
            } else if (is_long && repeats(quote, 3)) {
                index += 3;
                // Up to two quotes before the closing ones belong to the string.
                for (int extra = 0; extra < 2 && repeats(quote, 1); ++extra) ++index;
                return;
            } else if (!is_long && (bytes[index] == quote || bytes[index] == '\n')) {
                ++index;
                return;
            } else {
                ++index;
            }
        }
        index = length;
    }

    ctoml_position place() const noexcept
    {
        ctoml_position position{1, 1};
        for (size_t offset = 0; offset < index; ++offset) {
            if (bytes[offset] == '\n') {
                ++position.line;
                position.column = 1;
            } else if ((static_cast<unsigned char>(bytes[offset]) & 0xC0) != 0x80) {
                ++position.column;
            }
        }
        return position;
    }
};

bool ctoml_precedes(const ctoml_node &left, const ctoml_node &right) noexcept
{
    const auto a = left.key->source().begin;
    const auto b = right.key->source().begin;
    return a.line != b.line ? a.line < b.line : a.column < b.column;
}

ctoml_node ctoml_make_node(const toml::node &value, const toml::key *key)
{
    ctoml_node node{&value, key, {}};
    if (const auto *table = value.as_table()) {
        node.children.reserve(table->size());
        for (const auto &[child_key, child] : *table) node.children.push_back(ctoml_make_node(child, &child_key));
        std::sort(node.children.begin(), node.children.end(), ctoml_precedes);
    } else if (const auto *array = value.as_array()) {
        node.children.reserve(array->size());
        for (const auto &child : *array) node.children.push_back(ctoml_make_node(child, nullptr));
    }
    return node;
}

void ctoml_fill(ctoml_document &document, const char *bytes, size_t length)
{
    Preparation preparation(bytes, length);
    if (preparation.find(document.position)) {
        document.failed = true;
        document.message = "a dotted key has more than " + std::to_string(ctoml_most_dots + 1) + " parts";
        return;
    }
    toml::parse_result result = toml::parse(std::string_view(preparation.text));
    // toml++ decodes ahead, so that what it reports first depends on what comments say.
    if (!result) result = toml::parse(std::string_view(bytes, length));
    if (!result) {
        document.failed = true;
        document.message = std::string(result.error().description());
        document.position = ctoml_convert(result.error().source().begin);
        return;
    }
    document.table = std::move(result).table();
    document.root = ctoml_make_node(document.table, nullptr);
}

}  // namespace

extern "C" {

ctoml_document *ctoml_parse(const char *bytes, size_t length)
{
    ctoml_document *document = nullptr;
    try {
        document = new ctoml_document;
        ctoml_fill(*document, bytes ? bytes : "", bytes ? length : 0);
        return document;
    } catch (...) {
        delete document;
        return nullptr;
    }
}

void ctoml_free(ctoml_document *document) { delete document; }

const ctoml_node *ctoml_root(const ctoml_document *document) { return document->failed ? nullptr : &document->root; }

ctoml_text ctoml_error_message(const ctoml_document *document)
{
    return {document->message.data(), document->message.size()};
}

ctoml_position ctoml_error_position(const ctoml_document *document) { return document->position; }

ctoml_kind ctoml_node_kind(const ctoml_node *node)
{
    switch (node->value->type()) {
    case toml::node_type::table: return ctoml_kind_table;
    case toml::node_type::array: return ctoml_kind_array;
    case toml::node_type::string: return ctoml_kind_string;
    case toml::node_type::integer: return ctoml_kind_integer;
    case toml::node_type::floating_point: return ctoml_kind_float;
    case toml::node_type::boolean: return ctoml_kind_boolean;
    default: return ctoml_kind_other;
    }
}

ctoml_position ctoml_node_position(const ctoml_node *node) { return ctoml_convert(node->value->source().begin); }

ctoml_text ctoml_node_key(const ctoml_node *node)
{
    if (!node->key) return {nullptr, 0};
    return {node->key->str().data(), node->key->str().size()};
}

ctoml_position ctoml_node_key_position(const ctoml_node *node)
{
    return node->key ? ctoml_convert(node->key->source().begin) : ctoml_node_position(node);
}

size_t ctoml_node_count(const ctoml_node *node) { return node->children.size(); }

const ctoml_node *ctoml_node_child(const ctoml_node *node, size_t index)
{
    return index < node->children.size() ? &node->children[index] : nullptr;
}

ctoml_text ctoml_node_string(const ctoml_node *node)
{
    const auto *value = node->value->as_string();
    if (!value) return {nullptr, 0};
    return {value->get().data(), value->get().size()};
}

int64_t ctoml_node_integer(const ctoml_node *node)
{
    const auto *value = node->value->as_integer();
    return value ? value->get() : 0;
}

double ctoml_node_float(const ctoml_node *node)
{
    const auto *value = node->value->as_floating_point();
    return value ? value->get() : 0;
}

bool ctoml_node_boolean(const ctoml_node *node)
{
    const auto *value = node->value->as_boolean();
    return value && value->get();
}

}  // extern "C"
