/*
 * Three processes pass a token around; its holder writes a word and reads it back.
 * Under PSO the token may arrive before what was written, which then overwrites what the next holder wrote.
 */
#define N 3
byte token;
byte word;

active [N] proctype station() {
  do
  :: token == _pid ->
     word = _pid;
     assert(word == _pid);
     token = (_pid + 1) % N
  od
}
