import { courtesyMs, type PermitRequest, type RateLimitPermit, type RateLimitStore, turnMemoryMs } from './store.ts'

interface Row {
  readonly number: number
  freeAt: number
  leaseUntil: number
}

interface Turn {
  servedAt: number
  waitsUntil: number
}

interface Action {
  readonly rows: Row[]
  readonly turns: Map<string, Turn>
}

/** Places of this process alone, or of all gateways in it that are given the same ones. */
export const memoryRateLimitStore = (): RateLimitStore => {
  const actions = new Map<string, Action>()

  const open = (name: string, count = 0): Action => {
    const action: Action = actions.get(name) ?? { rows: [], turns: new Map() }
    actions.set(name, action)
    const freeAt = Math.min(...action.rows.map((row) => row.freeAt))
    while (action.rows.length < count) {
      action.rows.push({ number: action.rows.length, freeAt: Number.isFinite(freeAt) ? freeAt : 0, leaseUntil: 0 })
    }
    return action
  }

  const earliest = ({ freeAt, leaseUntil }: Row, { now, periodMs }: PermitRequest): number =>
    Math.max(freeAt, Math.min(leaseUntil, now + periodMs))

  const pick = (rows: readonly Row[], wanted: PermitRequest): Row | undefined =>
    rows.find((row) => row.freeAt <= wanted.now && row.leaseUntil <= wanted.now)

  const taken = (row: Row, { action, leaseUntil }: PermitRequest): RateLimitPermit => {
    row.leaseUntil = leaseUntil
    return { action, number: row.number, leaseUntil }
  }

  return {
    async take(wanted) {
      const { rows, turns } = open(wanted.action, wanted.count)
      for (const turn of turns.values()) if (turn.waitsUntil > wanted.now) return undefined
      const row = pick(rows.slice(0, wanted.count), wanted)
      return row && taken(row, wanted)
    },

    async takeInTurn(wanted) {
      const { user, now, count, periodMs } = wanted
      const { rows, turns } = open(wanted.action, count)
      const turn = turns.get(user) ?? { servedAt: 0, waitsUntil: 0 }
      const usable = rows.slice(0, count).sort((a, b) => a.freeAt - b.freeAt)
      const row = pick(usable, wanted)
      const rivals = [...turns.entries()].some(
        ([name, rival]) => name !== user && rival.waitsUntil > now && rival.servedAt < turn.servedAt,
      )
      if (row && (!rivals || row.freeAt <= now - courtesyMs)) {
        // Behind all others, so that the oldest are at the front.
        turns.delete(user)
        turns.set(user, { servedAt: now, waitsUntil: 0 })
        forget(turns, now - turnMemoryMs)
        return taken(row, wanted)
      }
      turn.waitsUntil = now + 2 * periodMs
      turns.set(user, turn)
      const nextAt = row ? row.freeAt + courtesyMs : Math.min(...usable.map((each) => earliest(each, wanted)))
      return { nextAt, servedAt: turn.servedAt }
    },

    async free(place, at, spreadMs = 0) {
      const { rows } = open(place.action)
      const row = rows[place.number]
      if (row?.leaseUntil !== place.leaseUntil) return
      const spread = spreadMs > 0 ? Math.max(...rows.map((each) => each.freeAt)) + spreadMs : 0
      row.freeAt = Math.max(row.freeAt, at, spread)
      row.leaseUntil = 0
    },

    async slow(name, until, spreadMs) {
      for (const row of open(name).rows) row.freeAt = Math.max(row.freeAt, until + row.number * spreadMs)
    },
  }
}

const forget = (turns: Map<string, Turn>, before: number): void => {
  for (const [user, turn] of turns) {
    if (turn.servedAt >= before) return
    if (turn.waitsUntil <= before + turnMemoryMs) turns.delete(user)
  }
}
