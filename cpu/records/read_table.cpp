// Lines of columns as records: PAF, SAM, TSV, BLAST's tables. The ctypes declarations are in
// pairalign/alignments/records.py.

#include <cstring>
#include <new>
#include <utility>

#include "fields.h"

// What a column holds; the order is that of ROLES in pairalign/alignments/records.py.
enum pairalign_role : int32_t {
    PAIRALIGN_ROLE_IGNORED,
    PAIRALIGN_ROLE_QUERY,
    PAIRALIGN_ROLE_TARGET,
    PAIRALIGN_ROLE_STRAND,
    PAIRALIGN_ROLE_QUERY_START,  // from 0
    PAIRALIGN_ROLE_QUERY_FIRST,  // from 1
    PAIRALIGN_ROLE_QUERY_END,    // after the last letter from 0: the last letter from 1
    PAIRALIGN_ROLE_TARGET_START,
    PAIRALIGN_ROLE_TARGET_FIRST,
    PAIRALIGN_ROLE_TARGET_END,
    PAIRALIGN_ROLE_CIGAR,
    PAIRALIGN_ROLE_EXCHANGED_CIGAR,  // with the meanings of I and D exchanged
    PAIRALIGN_ROLE_QUERY_ROW,
    PAIRALIGN_ROLE_TARGET_ROW,
    PAIRALIGN_ROLE_BTOP,
    PAIRALIGN_ROLE_FLAG,       // SAM's
    PAIRALIGN_ROLE_SAM_CIGAR,  // says where the query's letters lie, too
    PAIRALIGN_ROLE_SAM_SEQUENCE,
    PAIRALIGN_ROLE_CLAIM,  // and one for each claim
};

// How lines are read.
struct pairalign_layout {
    const int32_t* roles;  // [columns]
    int32_t columns;
    int32_t tags;     // whether NM, AS, cg follow the columns as in PAF and SAM
    int32_t comment;  // lines that begin with this byte are not read; -1: there are none such
};

namespace {

using namespace pairalign::records;
using pairalign::NameIndex;

uint32_t operation_of(char letter) {
    constexpr Text letters = "MIDNSHP=X";
    const size_t at = letters.find(letter);
    return at == letters.npos ? 15 : static_cast<uint32_t>(at);
}

constexpr uint32_t INSERTION = 1, DELETION = 2, SOFT = 4, HARD = 5;

class Reader {
public:
    Reader(const char* text, const pairalign_layout& layout, const NameIndex& queries,
           const NameIndex& targets, uint32_t* runs)
        : text_(text), layout_(layout), queries_(queries), targets_(targets), runs_(runs) {}

    int64_t run_count() const { return run_count_; }

    // False: the line is no alignment (SAM: not mapped).
    bool read(Text line, pairalign_record& record) {
        clear(record);
        query_first_ = target_first_ = is_sam_ = is_mapped_ = false;
        flag_ = 0;
        int32_t column = 0;
        size_t at = 0;
        for (; at <= line.size(); ++column) {
            if (column >= layout_.columns && !layout_.tags) break;
            const char* const start = line.data() + at;
            const void* const tab = std::memchr(start, '\t', line.size() - at);
            const size_t bytes =
                tab ? static_cast<size_t>(static_cast<const char*>(tab) - start) : line.size() - at;
            const Text word(start, bytes);
            at += bytes + 1;
            if (column < layout_.columns) {
                take(layout_.roles[column], word, record);
            } else {
                take_tag(word, record);
            }
        }
        if (column < layout_.columns) record.fault = PAIRALIGN_FAULT_COLUMNS;
        return finish(record);
    }

private:
    int64_t place(Text word) const { return word.data() - text_; }

    void take(int32_t role, Text word, pairalign_record& record) {
        switch (role) {
            case PAIRALIGN_ROLE_IGNORED:
                return;
            case PAIRALIGN_ROLE_QUERY:
                record.query_name = place(word);
                record.query_name_bytes = static_cast<int32_t>(word.size());
                record.query = find(queries_, word);
                return;
            case PAIRALIGN_ROLE_TARGET:
                record.target_name = place(word);
                record.target_name_bytes = static_cast<int32_t>(word.size());
                record.target = find(targets_, word);
                return;
            case PAIRALIGN_ROLE_STRAND:
                if (word == "-") {
                    record.turned = 1;
                } else if (word != "+") {
                    record.fault = PAIRALIGN_FAULT_STRAND;
                }
                return;
            case PAIRALIGN_ROLE_QUERY_FIRST:
            case PAIRALIGN_ROLE_TARGET_FIRST:
                (role == PAIRALIGN_ROLE_QUERY_FIRST ? query_first_ : target_first_) = true;
                [[fallthrough]];
            case PAIRALIGN_ROLE_QUERY_START:
            case PAIRALIGN_ROLE_QUERY_END:
            case PAIRALIGN_ROLE_TARGET_START:
            case PAIRALIGN_ROLE_TARGET_END:
                if (!read_whole(word, record.spans[place_in_spans(role)]))
                    record.fault = PAIRALIGN_FAULT_NUMBER;
                return;
            case PAIRALIGN_ROLE_CIGAR:
            case PAIRALIGN_ROLE_EXCHANGED_CIGAR:
            case PAIRALIGN_ROLE_SAM_CIGAR:
                is_sam_ |= role == PAIRALIGN_ROLE_SAM_CIGAR;
                is_mapped_ = word != "*";
                read_cigar(word, role == PAIRALIGN_ROLE_EXCHANGED_CIGAR, record);
                return;
            case PAIRALIGN_ROLE_QUERY_ROW:
            case PAIRALIGN_ROLE_TARGET_ROW:
                record.rows[role - PAIRALIGN_ROLE_QUERY_ROW] = place(word);
                record.row_bytes[role - PAIRALIGN_ROLE_QUERY_ROW] = static_cast<int64_t>(word.size());
                return;
            case PAIRALIGN_ROLE_BTOP:
                record.btop = place(word);
                record.btop_bytes = static_cast<int64_t>(word.size());
                return;
            case PAIRALIGN_ROLE_FLAG:
                if (!read_whole(word, flag_)) record.fault = PAIRALIGN_FAULT_NUMBER;
                return;
            case PAIRALIGN_ROLE_SAM_SEQUENCE:
                if (word == "*") return;
                record.letters = place(word);
                record.letter_bytes = static_cast<int64_t>(word.size());
                return;
            default:
                claim(role - PAIRALIGN_ROLE_CLAIM, word, record);
        }
    }

    static int place_in_spans(int32_t role) {
        if (role == PAIRALIGN_ROLE_QUERY_END) return 1;
        if (role == PAIRALIGN_ROLE_TARGET_END) return 3;
        return role == PAIRALIGN_ROLE_QUERY_START || role == PAIRALIGN_ROLE_QUERY_FIRST ? 0 : 2;
    }

    void take_tag(Text word, pairalign_record& record) {
        if (word.size() < 5 || word[2] != ':' || word[4] != ':') return;
        const Text value = word.substr(5);
        const Text name = word.substr(0, 2);
        if (name == "NM") {
            claim(PAIRALIGN_SAYS_EDITS, value, record);
        } else if (name == "AS") {
            claim(PAIRALIGN_SAYS_SCORE, value, record);
        } else if (name == "cg" && !is_sam_) {
            read_cigar(value, false, record);
        }
    }

    void read_cigar(Text word, bool exchanged, pairalign_record& record) {
        record.first_run = run_count_;
        record.runs = 0;
        if (word == "*") return;
        uint32_t length = 0;
        bool digits = false, inside = false, behind = false;
        for (const char letter : word) {
            if (letter >= '0' && letter <= '9') {
                length = 10 * length + static_cast<uint32_t>(letter - '0');
                digits = true;
                if (length >= 1u << 28) break;
                continue;
            }
            uint32_t operation = operation_of(letter);
            if (!digits || length == 0 || operation == 15) {
                digits = true;
                break;
            }
            if (operation == SOFT || operation == HARD) {
                if (!is_sam_) break;
                behind |= inside;
                record.clipped[inside] += operation == SOFT ? length : 0;
                hard_[inside] += operation == HARD ? length : 0;
            } else {
                if (behind) break;
                inside = true;
                if (exchanged && operation == INSERTION) {
                    operation = DELETION;
                } else if (exchanged && operation == DELETION) {
                    operation = INSERTION;
                }
                runs_[run_count_++] = length << 4 | operation;
                record.runs++;
            }
            length = 0;
            digits = false;
        }
        // Digits are left where no operation follows them, or where something was wrong.
        if (digits || length != 0) record.fault = PAIRALIGN_FAULT_CIGAR;
    }

    bool finish(pairalign_record& record) {
        if (is_sam_) {
            if (flag_ & 4 || !is_mapped_ ||
                Text(text_ + record.target_name, record.target_name_bytes) == "*") {
                run_count_ -= record.runs > 0 ? record.runs : 0;
                hard_[0] = hard_[1] = 0;
                return false;
            }
            place_sam(record);
        }
        turn_blast(record.spans[0], record.spans[1], query_first_, 1, record);
        turn_blast(record.spans[2], record.spans[3], target_first_, 2, record);
        blame_names(record);
        return true;
    }

    // Where the query's letters lie is said by what is clipped, in the order of the strand.
    void place_sam(pairalign_record& record) {
        int64_t used[2] = {0, 0};
        for (int64_t k = 0; k < record.runs; ++k) {
            const uint32_t run = runs_[record.first_run + k];
            const uint32_t operation = run & 15;
            if (operation != 2 && operation != 3 && operation != 6) used[0] += run >> 4;
            if (operation != 1 && operation != 6) used[1] += run >> 4;
        }
        const bool minus = flag_ & 16;
        const int64_t around[2] = {record.clipped[0] + hard_[0], record.clipped[1] + hard_[1]};
        record.turned = minus;
        record.says[PAIRALIGN_SAYS_QUERY_LENGTH] = around[0] + used[0] + around[1];
        record.spans[0] = around[minus];
        record.spans[1] = record.spans[0] + used[0];
        record.spans[3] = record.spans[2] - 1 + used[1];
        hard_[0] = hard_[1] = 0;
    }

    // Positions from 1, both letters included; of a strand that is turned the first is the larger.
    static void turn_blast(int64_t& start, int64_t& end, bool from_one, int32_t side,
                           pairalign_record& record) {
        if (!from_one) return;
        if (end >= 0 && start > end) {
            std::swap(start, end);
            record.turned ^= side;
        }
        start--;
    }

    const char* const text_;
    const pairalign_layout& layout_;
    const NameIndex& queries_;
    const NameIndex& targets_;
    uint32_t* const runs_;
    int64_t run_count_ = 0;
    int64_t hard_[2] = {0, 0};
    int64_t flag_ = 0;
    bool query_first_ = false, target_first_ = false, is_sam_ = false, is_mapped_ = false;
};

}  // namespace

// Makes an index of the names of a set, which have to stay where they are; null where there is no memory.
PAIRALIGN_API void* pairalign_open_names(const pairalign_names* names) {
    try {
        return new NameIndex(pairalign::index_of(*names));
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

PAIRALIGN_API void pairalign_close_names(void* index) { delete static_cast<NameIndex*>(index); }

// Places of some names: found[count], -1 where the set has no such name.
PAIRALIGN_API void pairalign_find_names(const void* index, const pairalign_names* names, int32_t* found) {
    const NameIndex& known = *static_cast<const NameIndex*>(index);
    int64_t start = 0;
    for (int64_t k = 0; k < names->count; start = names->ends[k++]) {
        const auto place = known.find(Text(names->text + start, static_cast<size_t>(names->ends[k] - start)));
        found[k] = place == known.end() ? -1 : place->second;
    }
}

// Reads the lines of a text: records[lines], runs[bytes / 2 + 1]. Returns how many records.
// counts[2]: runs, and lines that are no alignments.
PAIRALIGN_API int64_t pairalign_read_records(const char* text, int64_t bytes, const pairalign_layout* layout,
                                             const void* queries, const void* targets,
                                             pairalign_record* records, uint32_t* runs, int64_t* counts) {
    Reader reader(text, *layout, *static_cast<const NameIndex*>(queries),
                  *static_cast<const NameIndex*>(targets), runs);
    int64_t count = 0, line_number = 0, others = 0;
    Lines lines(Text(text, static_cast<size_t>(bytes)));
    for (Text line; lines.next(line); ++line_number) {
        if (line.empty() || static_cast<unsigned char>(line[0]) == layout->comment) continue;
        if (reader.read(line, records[count])) {
            records[count].line = line_number;
            records[count].number = count;
            count++;
        } else {
            others++;
        }
    }
    counts[0] = reader.run_count();
    counts[1] = others;
    return count;
}
