import type { FaultRequest, FaultWorld } from '../world.ts'

/** Makes what a request needs, while nothing fails, and returns the request. */
export type MakeRequest = (world: FaultWorld) => FaultRequest | Promise<FaultRequest>

/** A request for each route, as `METHOD /path/{}`. */
export type Requests = Readonly<Record<string, MakeRequest>>
