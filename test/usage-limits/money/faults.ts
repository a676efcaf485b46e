// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of the sources
/** A defect: the text that is replaced in a source file must be there exactly once. */
export interface Fault {
  readonly name: string
  readonly edits: readonly { readonly file: string; readonly from: string; readonly to: string }[]
  /** The seed with which the search begins: the first one that has shown the fault. Default 1. */
  readonly firstSeed?: number
}

const exchange = 'src/store/limits/exchange.ts'
const holds = 'src/store/limits/holds.ts'
const ledger = 'plugins/usage-limits/ledger/ledger.ts'
const exchanges = 'plugins/usage-limits/ledger/exchanges.ts'
const counter = 'plugins/usage-limits/ledger/counter.ts'
const store = 'plugins/usage-limits/store.ts'

const fault = (name: string, file: string, from: string, to: string, firstSeed = 1): Fault => ({
  name,
  edits: [{ file, from, to }],
  firstSeed,
})

export const faults: readonly Fault[] = [
  {
    name: 'a grant is decided by what was read before the lock',
    edits: [
      {
        file: exchange,
        from: 'export function* applyExchange(exchange: LimitExchange)',
        to: 'export function* applyExchange(exchange: LimitExchange, before: readonly any[] = [])',
      },
      {
        file: exchange,
        from: 'grantOf(change, change.amount - used - Number(settled.held))',
        to: 'grantOf(change, change.amount - before[changes.indexOf(change)].used - before[changes.indexOf(change)].allHeld)',
      },
      {
        file: 'src/store/limits/limits.ts',
        from: '  exchange: (exchange) =>\n    database\n      .transaction(() => applyExchange(exchange))',
        to: `  exchange: async (exchange) =>
    database.transaction(() => readUse(exchange.changes.map((change) => change.counter), exchange.now))
      .then(async (before) => { for (let turn = 0; turn < 3; turn++) await new Promise((done) => setImmediate(done)); return before })
      .then((before) => database.transaction(() => applyExchange(exchange, before)))`,
      },
    ],
  },
  fault(
    'each process counts in its own memory',
    counter,
    'const text = JSON.stringify([type,',
    'const text = JSON.stringify([Math.random(), type,',
  ),
  fault(
    'what was used is not booked',
    ledger,
    'amount: owner.amount, held, used, keeps',
    'amount: owner.amount, held, used: 0, keeps',
  ),
  fault(
    'what was used is booked twice',
    exchange,
    'set used = limit_use.used + excluded.used, held',
    'set used = limit_use.used + 2 * excluded.used, held',
  ),
  fault(
    'a day has always 24 hours',
    'plugins/usage-limits/calendar.ts',
    'end: startOf(next) }',
    'end: startOf(first) + (next - first) * dayMs }',
  ),
  fault(
    'what a killed process held is given back',
    holds,
    '(unit as LimitUnit) ? amount : 0',
    '(unit as LimitUnit) ? 0 : 0',
  ),
  fault(
    'an exchange that is repeated is applied twice',
    exchange,
    'and seq = ${seq - 1}\n        and lease_until > ${now}',
    'and seq >= ${seq - 1}',
  ),
  fault(
    'an exchange whose outcome is not known is forgotten',
    exchanges,
    'this.isFailing = true\n',
    'this.isFailing = true\n      this.#pending = undefined\n',
  ),
  {
    name: 'a holder whose lease has ended goes on',
    firstSeed: 4,
    edits: [
      { file: exchange, from: '\n        and lease_until > ${now}', to: '' },
      { file: exchange, from: 'if (written.length !== blocks) throw new LostHolderError()', to: '' },
      {
        file: holds,
        from: 'delete from limit_holders\n    where holder = ${holder}\n    and lease_until < ${now - maxSkewMs}\n    returning',
        to: 'update limit_holders set seq = seq where holder = ${holder}\n    and lease_until < ${now - maxSkewMs}\n    returning',
      },
      { file: exchanges, from: '&& now < this.#holder.leaseUntil - leaseMarginMs', to: '' },
    ],
  },
  fault(
    'a window that slides is a step too short',
    store,
    'stepOf(stepMs, now - lengthMs)',
    'stepOf(stepMs, now - lengthMs) + stepMs',
  ),
  fault(
    'only the first subject is asked',
    'plugins/usage-limits/create.ts',
    'limits.countersFor(call.model)',
    'limits.countersFor(call.model).slice(0, 1)',
  ),
  fault(
    'a limit of all models that begin so covers none',
    'plugins/usage-limits/limit.ts',
    'model.startsWith(pattern.slice(0, -1)) : model === pattern',
    'model === pattern : model === pattern',
  ),
  fault(
    'what is given back can still be reserved',
    ledger,
    'const keeps = block.reserved + block.free',
    'const keeps = block.reserved',
    4,
  ),
  fault(
    'a call that ends after midnight is booked on the next day',
    'plugins/usage-limits/ledger/reservation.ts',
    'used: number): void {\n    const { block, amount } = part',
    'used: number): void {\n    const { amount } = part\n    const { block } = part.counter',
  ),
  fault(
    'a block counts as granted before the store has answered',
    exchanges,
    'block.free += counts.held - change.keeps',
    'block.free += counts.held - change.keeps + change.needs',
  ),
  fault(
    'a stream takes more than it asks the limit for',
    'plugins/usage-limits/ledger/reservation.ts',
    'needs.push({ counter, amount, least })',
    'needs.push({ counter, amount: Math.ceil(amount / 2), least: Math.ceil(least / 2) })',
  ),
  fault(
    'what a call has released can be released again',
    'plugins/usage-limits/ledger/reservation.ts',
    '    part.amount = 0\n    if (amount === 0 && used === 0) return\n',
    '    if (amount === 0 && used === 0) return\n',
  ),
  fault(
    'what moves to a task is granted again by the same exchange',
    store,
    'const left = rest - movedOf(change)',
    'const left = rest',
    3,
  ),
]
