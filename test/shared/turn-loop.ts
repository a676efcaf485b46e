import { RequestTurns } from '../../plugins/shared/http/turn/request-turns.ts'
import type { Problem } from '../../plugins/shared/problem.ts'

export const maxPerTurn = 32
export const minPerTurn = 4
export const maxAtOnce = 4
export const maxWaiting = 4_096
/** Milliseconds. */
export const longTurn = 2

/**
 * Turns of a loop that the test turns, and the names of the requests that were handled.
 *
 * @param pauseMs how long other threads run when they are let
 */
export const createLoop = (pauseMs = 0) => {
  let now = 0
  const due: (() => void)[] = []
  const schedule = (run: () => void) => void due.push(run)
  let pauses = 0
  const letOthersRun = () => {
    pauses++
    now += pauseMs
  }
  const clock = { now: () => now }
  const turns = new RequestTurns({ clock, inNextTurn: schedule, afterIo: schedule, letOthersRun })
  const handled: string[] = []
  const refused: [name: string, problem: Problem][] = []
  /** A request with the token of this name, which is its user's if `user` is given. */
  const ask = (
    name: string,
    { token = name, user, hasLeft = () => false }: { token?: string; user?: string; hasLeft?: () => boolean } = {},
  ): Request => {
    const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` }
    const request = new Request('http://localhost/', { headers })
    const handle = (problem?: Problem) => {
      if (problem) return void refused.push([name, problem])
      handled.push(name)
      if (user !== undefined) turns.identified(request, user)
    }
    const waiting = {
      get hasLeft() {
        return hasLeft()
      },
      begin: (problem?: Problem) => queueMicrotask(() => handle(problem)),
    }
    if (turns.mayBegin(request, waiting)) handle()
    return request
  }
  /** An upstream has responded to a request of this user. */
  const respond = (name: string, user: string | undefined): void => {
    const wait = turns.resume(() => user)
    if (wait) void wait.then(() => handled.push(name))
    else handled.push(name)
  }
  return {
    ...{ turns, handled, refused, ask, respond },
    /** Whether a turn is due. */
    isDue: () => due.length > 0,
    async turn(ms = longTurn): Promise<void> {
      now += ms
      for (const run of due.splice(0)) run()
      await Promise.resolve()
    },
    /** How often other threads were let run. */
    pauses: () => pauses,
    pass(ms: number): void {
      now += ms
    },
    /** The requests of a turn that takes this long. */
    async handledInTurn(ms = longTurn): Promise<readonly string[]> {
      const before = handled.length
      await this.turn(ms)
      return handled.slice(before)
    },
  }
}

export type Loop = ReturnType<typeof createLoop>

export const times = (count: number, run: (nth: number) => void): void => {
  for (let nth = 0; nth < count; nth++) run(nth)
}

/** All turns are long: each begins as few requests as possible. */
export const slow = async (loop: Loop): Promise<void> => {
  for (let nth = 0; nth < 4; nth++) await loop.turn()
}
