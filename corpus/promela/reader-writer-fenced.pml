/*
 * A reader and a writer keep out of each other's way by a flag each; the writer waits, the reader steps back.
 * A fence between a flag and the look at the other one, and before the writer leaves.
 */
bool writing, reading;
bit left, right;

active proctype writer() {
  do
  :: writing = true;
     fence;
     (!reading);
     left = 1 - left;
     right = 1 - right;
     fence;
     writing = false
  od
}

active proctype reader() {
  bit seen;
  do
  :: (!writing);
     reading = true;
     fence;
     if
     :: writing -> reading = false
     :: else ->
        seen = left;
        assert(seen == right);
        reading = false
     fi
  od
}
