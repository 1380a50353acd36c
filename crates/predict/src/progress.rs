//! Progress that programs print: bars and counters recognised in lines of text.
