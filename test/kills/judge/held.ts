import { openTables } from './tables.ts'

interface Block {
  readonly counter: string
  readonly held: number
  readonly leaseUntil: number
}

/** What killed processes held of the limits, by counter: it counts as used when their leases end, because nobody knows how much of it was. */
export interface HeldAmounts extends AsyncDisposable {
  /** Looks at the blocks once more. */
  look(): Promise<void>
  of(counter: string): number
}

const everyMs = 250

/** Looks at the blocks of all processes, again and again. One that is gone after the end of its lease was that of a killed process. */
export const watchHeldAmounts = (databaseUrl: string): HeldAmounts => {
  const over = new AbortController()
  const lost = new Map<string, number>()
  let known = new Map<string, Block>()
  const tables = openTables(databaseUrl)
  const look = async (): Promise<void> => {
    const rows = await tables.query(`
        select limit_blocks.holder, counter, bucket, held, lease_until
        from limit_blocks
        join limit_holders on limit_holders.holder = limit_blocks.holder
        where lease_until is not null`)
    const now = Date.now()
    const found = new Map(
      rows.map(({ holder, counter, bucket, held, lease_until }) => [
        `${holder} ${counter} ${bucket}`,
        { counter: String(counter), held: Number(held), leaseUntil: Number(lease_until) },
      ]),
    )
    for (const [key, { counter, held, leaseUntil }] of known)
      if (!found.has(key) && leaseUntil < now) lost.set(counter, (lost.get(counter) ?? 0) + held)
    known = found
  }
  const lookAgain = async (): Promise<void> => {
    for (; !over.signal.aborted; await Bun.sleep(everyMs)) await look()
  }
  const looking = lookAgain()
  return {
    look,
    of: (counter) => lost.get(counter) ?? 0,
    async [Symbol.asyncDispose]() {
      over.abort()
      await looking
      await tables[Symbol.asyncDispose]()
    },
  }
}
