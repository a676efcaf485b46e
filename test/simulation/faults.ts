import type { Fault } from './world.ts'

/** Concurrency defects that the simulation must find. */
export const faults: Readonly<Record<string, Fault>> = {}
