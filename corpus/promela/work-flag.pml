/*
 * A worker goes on with its work until it is told to stop, and says when it rests; the other one tells it again and again.
 * Neither waits for its buffer. The counter never has more than two bits.
 */
bit stop, rests;
byte done;

active proctype worker() {
  do
  :: stop == 0 ->
     done = (done + 1) % 4;
     rests = 0
  :: stop == 1 -> rests = 1
  od
}

active proctype boss() {
  do
  :: stop = 1;
     (rests == 1);
     assert(done < 4);
     stop = 0
  od
}
