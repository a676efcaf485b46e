import { repetitions } from './repetitions.ts'
import type { Runtime } from './server.ts'

/** A runtime and the value of `GET_BODIES`: each combination with another listener of the server. */
export type Front = readonly [runtime: Runtime, getBodies: 'on' | 'off']

/** The fronts of the default server, for a suite that is not about them: see `repetitions`. */
export const fronts = repetitions<Front>(['bun', 'on'], ['bun', 'off'], ['deno', 'on'])

/** The runtimes of the default server, for a suite that is not about them. */
export const repeatedRuntimes = repetitions<Runtime>('bun', 'deno')
