/*
 * Simpson's register of four slots: a writer and a reader that never wait for each other.
 * A value is two words, and no reader may see a word of one beside a word of another;
 * without fences the writer may not know in time what is being read.
 */
#define at(pair, index)  (2 * (pair) + (index))
byte first[4], second[4];
bit slot[2];
bit latest, reading;

active proctype writer() {
  bit pair, index;
  byte value;
  do
  :: pair = !reading;
     index = !slot[pair];
     value = (value + 1) % 3;
     first[at(pair, index)] = value;
     second[at(pair, index)] = value;
     slot[pair] = index;
     latest = pair
  od
}

active proctype reader() {
  bit pair, index;
  byte one, other;
  do
  :: pair = latest;
     reading = pair;
     index = slot[pair];
     one = first[at(pair, index)];
     other = second[at(pair, index)];
     assert(one == other)
  od
}
