import { parseArgs } from 'node:util'
import type { Front } from '../cases.ts'
import { processors } from '../processors.ts'
import { type Capacity, capacities } from './servers.ts'

export interface OverloadOptions {
  readonly capacities: readonly Capacity[]
  readonly fronts: readonly Front[]
  readonly seconds: number
  readonly json: string | undefined
  /** The processors of the server, and those of everything else. Default: all for both. */
  readonly separate: Separate | undefined
}

interface Separate {
  readonly server: readonly number[]
  readonly load: readonly number[]
}

export const overloadUsage = `usage: bun run bench overload [OPTION…]
How many good answers are left at four times the capacity, and what a user's flood does to another user.
options
  --front on,off      values of GET_BODIES. Default: both
  --bound NAMES       places, processor, relay. Default: all
  --seconds N         duration of a measurement. Default: 5
  --separate          the server has a processor of its own, and everything else has the others. Needs two, and taskset
  --json FILE         writes the figures to this file`

/**
 * Parses the command line. Throws an Error for invalid arguments.
 *
 * @param available the processors of this process, if those of others can be chosen
 */
export const readOverloadOptions = (args: readonly string[], available = processors()): OverloadOptions => {
  const text = { type: 'string' } as const
  const options = { front: text, bound: text, seconds: text, json: text, separate: { type: 'boolean' } } as const
  const { values } = parseArgs({ args: [...args], options })
  const seconds = Number(values.seconds ?? 5)
  if (!(seconds >= 0.5 && seconds <= 600)) throw new Error('--seconds must be a number from 0.5 to 600')
  const fronts = (values.front ?? 'on,off').split(',').map((word): Front => {
    if (word !== 'on' && word !== 'off') throw new Error('--front must be on, off, or both')
    return word
  })
  const bounds = values.bound?.split(',') ?? capacities.map(({ name }) => name)
  const unknown = bounds.find((bound) => !capacities.some(({ name }) => name === bound))
  if (unknown !== undefined) throw new Error('--bound must be of places, processor, and relay')
  const [first, ...others] = available
  if (values.separate && (first === undefined || others.length === 0))
    throw new Error('--separate needs two processors, and taskset (util-linux)')
  return {
    separate: values.separate ? { server: [first ?? 0], load: others } : undefined,
    ...{ fronts, seconds, json: values.json },
    capacities: capacities.filter(({ name }) => bounds.includes(name)),
  }
}
