/*
 * A reader says that it reads, an updater points it elsewhere, waits until nobody reads, and spoils the old copy.
 * The reader does not wait for its buffer, so the updater may not know that it reads.
 */
#define SPOILED 9
byte copy[2] = 1;
bit current;
bool reading;

active proctype reader() {
  byte which, seen;
  do
  :: reading = true;
     which = current;
     seen = copy[which];
     assert(seen != SPOILED);
     reading = false
  od
}

active proctype updater() {
  byte old;
  do
  :: old = current;
     copy[1 - old] = 1;
     fence;
     current = 1 - old;
     fence;
     !reading;
     copy[old] = SPOILED;
     fence
  od
}
