// Reverse-complements the sequences of a window's columns into a buffer of their own.
//
// Inputs: codes, starts, lengths of the set (see sets.clh); first, the sorted position of the first of them;
// complement uchar[32], code -> code. Output: `reversed`, each sequence where it lies in `codes`, counted
// from the first one's start, so that kernels take `starts - starts[first]` of it (Batch::shift). A
// work-group a sequence, of any size.

kernel void reverse_complement(global const uchar* codes, global const long* starts,
                               global const int* lengths, global const uchar* complement,
                               global uchar* reversed, const int first) {
    const int position = first + get_group_id(0);
    const int length = lengths[position];
    const long start = starts[position];
    global uchar* const target = reversed + (start - starts[first]);
    for (int k = get_local_id(0); k < length; k += get_local_size(0))
        target[k] = complement[codes[start + (length - 1 - k)]];
}
