/*
 * Szymanski's algorithm for two processes.
 * A fence after each step of a flag, and one before the release for PSO.
 */
/* 0 outside, 1 wants in, 2 waits for others, 3 in the doorway, 4 door closed behind it */
byte flag[2];
byte ncrit;

active [2] proctype user() {
  byte me = _pid;
  byte other = 1 - _pid;
again:
  flag[me] = 1;
  fence;
  (flag[other] < 3);
  flag[me] = 3;
  fence;
  if
  :: flag[other] == 1 ->
     flag[me] = 2;
     fence;
     (flag[other] == 4)
  :: else
  fi;
  flag[me] = 4;
  fence;
  if
  :: other < me -> (flag[other] < 2)
  :: else
  fi;
  ncrit++;
  assert(ncrit == 1);
  ncrit--;
  fence;
  if
  :: other > me -> (flag[other] < 2 || flag[other] > 3)
  :: else
  fi;
  flag[me] = 0;
  goto again
}
