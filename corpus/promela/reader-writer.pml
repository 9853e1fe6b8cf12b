/*
 * A reader and a writer keep out of each other's way by a flag each; the writer waits, the reader steps back.
 * Nothing orders the store of a flag with the look at the other one.
 */
bool writing, reading;
bit left, right;

active proctype writer() {
  do
  :: writing = true;
     (!reading);
     left = 1 - left;
     right = 1 - right;
     writing = false
  od
}

active proctype reader() {
  bit seen;
  do
  :: (!writing);
     reading = true;
     if
     :: writing -> reading = false
     :: else ->
        seen = left;
        assert(seen == right);
        reading = false
     fi
  od
}
