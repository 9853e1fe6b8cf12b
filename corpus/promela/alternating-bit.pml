/*
 * A sender and a receiver who take turns by an alternating bit, over shared variables.
 * Under PSO the bit may arrive before the message.
 */
byte message;
bit sent, seen;

active proctype sender() {
  byte next = 1;
  bit mine = 0;
  do
  :: message = next;
     mine = 1 - mine;
     sent = mine;
     (seen == mine);
     next = next % 3 + 1
  od
}

active proctype receiver() {
  byte expected = 1;
  byte got;
  bit last = 0;
  do
  :: (sent != last);
     last = 1 - last;
     got = message;
     assert(got == expected);
     expected = expected % 3 + 1;
     seen = last
  od
}
