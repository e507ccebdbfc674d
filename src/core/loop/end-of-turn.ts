/**
 * The end of a turn of the event loop: all input of the turn has been read, so its operations can go together.
 *
 * Operations that follow from them (requests whose key was found) go together, too, within the same end of the turn.
 * Waiting for another turn would let new input come between.
 */
let tasks: (() => unknown)[] = []
let turn = 0
let ending = false

/**
 * Runs `task` at the end of this turn.
 *
 * @param lastTurn the turn of the caller's last task: a caller runs at most once per turn, so that callers waiting for
 *   each other do not block the sockets
 */
export function atEndOfTurn(task: () => unknown, lastTurn: number): void {
  if (ending && lastTurn !== turn) {
    // After all work that the end of the turn has started.
    process.nextTick(task)
    return
  }
  tasks.push(task)
  if (tasks.length > 1) return
  setImmediate(end)
  // Runs after all work that `end` starts without I/O.
  setImmediate(ended)
}

/** The number of the current turn, for `lastTurn`. */
export function endingTurn(): number {
  return turn
}

/**
 * Runs `task` after this many turns of the event loop; 0: at once. Turns of an idle loop take microseconds, and in a
 * busy one more items gather: the wait costs time only where it saves work.
 */
export function afterTurns(turns: number, task: () => void): void {
  if (turns === 0) task()
  else setImmediate(afterTurns, turns - 1, task)
}

function end(): void {
  const ready = tasks
  tasks = []
  turn += 1
  ending = true
  for (const task of ready) task()
}

function ended(): void {
  ending = false
}
