import { openSqlite } from '../store/database/sqlite.ts'
import { addUsage } from '../store/usage/usage.ts'

/** Prices of the demo's models, as the variables `TEXT_PRICES` and `VIDEO_PRICES` have them. */
export const textPrices = {
  'doubao-seed-emulated': { input: 0.8, cachedInput: 0.16, output: 8 },
  '*': { input: 2, cachedInput: 0.4, output: 12 },
}
export const videoPrices = { '*': { tokens: 46 } }

/** What the demo's user has used before today, so that there is something to see. */
export interface PastUsage {
  /** Path of the SQLite file. */
  readonly file: string
  readonly user: string
  /** Id of the token. */
  readonly token: string
  readonly videoModel: string
  /** Milliseconds since 1970. */
  readonly now: number
}

const days = 13
const dayMs = 86_400_000

/** Adds usage for each day of the last two weeks: fewer calls at the weekend, a video on some days. */
export const addPastUsage = async ({ file, user, token, videoModel, now }: PastUsage): Promise<void> => {
  const database = openSqlite(file)
  const statements = Array.from({ length: days }, (_, index) => {
    const time = new Date(now - (days - index) * dayMs)
    const isWeekend = [0, 6].includes(time.getUTCDay())
    const sum = { user, token, day: time.toISOString().slice(0, 10), unreported: 0 }
    const textOf = (model: string, calls: number, { input, output } = textPrices['*']) => {
      const tokens = { input: calls * 2_300, cachedInput: calls * 900, output: calls * 640, reasoning: calls * 120 }
      const cost = Math.round((tokens.input - tokens.cachedInput) * input * 1_000 + tokens.output * output * 1_000)
      return addUsage({ ...sum, ...tokens, model, calls, cost })
    }
    const calls = isWeekend ? 6 + index : 34 + ((index * 29) % 43)
    const videos = isWeekend ? 0 : (index * 5) % 4
    const tokens = videos * 108_900
    return [
      textOf('doubao-seed-emulated', calls, textPrices['doubao-seed-emulated']),
      ...(isWeekend ? [] : [textOf('emulated-reasoner', Math.round(calls / 4))]),
      ...(videos === 0
        ? []
        : [
            addUsage({
              ...{ ...sum, model: videoModel, calls: videos, videoSeconds: videos * 5 },
              ...{ input: 0, cachedInput: 0, output: tokens, reasoning: 0 },
              cost: tokens * videoPrices['*'].tokens * 1_000,
            }),
          ]),
    ]
  })
  await database.batch(statements.flat())
  await database.close()
}
