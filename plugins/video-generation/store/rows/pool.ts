import type { WaitingLine } from '../place.ts'
import type { PoolLimits, PoolSignal } from '../pool.ts'
import { learntSlots, pauseMsAfter, quietMs, slotsOf } from '../slots.ts'
import { nextUser, strideOf, type WaitingUser } from '../turns.ts'
import type { StoredTask } from './task.ts'
import { positionAt, rowKey, type Transaction } from './transaction.ts'

/** The value of the row of a pool. */
interface PoolState {
  /** Empty: tasks that need no slot. */
  readonly pool: string
  turn: number
  /** The pass at which the last task was started. */
  pass: number
  /** Number of slots that the upstream has, as its 429s have told, and since when. */
  learnt?: number
  learntAt?: number
  pausedUntil: number
  pauseKind?: PoolSignal['kind']
  /** Number of pauses since the upstream has accepted a task. */
  pauses: number
  /** Mean time that a task keeps its slot. */
  meanMs?: number
  usedAt: number
  /** Running tasks that take no slot any more. */
  overrunning: number
  users: Record<string, PoolUser>
}

/** A user with tasks in a pool. */
interface PoolUser {
  pass: number
  stride: number
  running: number
  waiting: number
  waitingBytes: number
  /** Place of the oldest waiting task. */
  place?: number
}

export const poolLists = {
  /** By name. */
  all: rowKey('pools'),
  /** Those with waiting tasks, by name. */
  waiting: rowKey('waiting pools'),
  /** Those without tasks, by the time of their last use. */
  unused: rowKey('unused pools'),
}

const positionOf = (pool: string): string => encodeURIComponent(pool)

/** A pool of slots. Every start and end of a task changes its row, so no two happen at once. */
export class Pool {
  readonly #state: PoolState
  readonly #users: Map<string, PoolUser>

  /** @param value the value of its row */
  constructor(value: string) {
    this.#state = JSON.parse(value)
    this.#users = new Map(Object.entries(this.#state.users))
  }

  /** Reads a pool, or begins a new one. */
  static async read(transaction: Transaction, pool: string, now: number): Promise<Pool> {
    const none = { turn: 0, pass: 0, pausedUntil: 0, pauses: 0, usedAt: now, overrunning: 0, users: {} }
    return new Pool((await transaction.read(rowKey('pool', pool))) ?? JSON.stringify({ pool, ...none }))
  }

  /** The position of a pool in the lists by name. */
  static positionIn(value: string): string {
    return positionOf(new Pool(value).name)
  }

  write(transaction: Transaction): void {
    const { pool, pass, usedAt } = this.#state
    // Whose tasks have all ended begins again at the pass of the pool, unless the own one is greater.
    const users = [...this.#users].filter(([, user]) => user.running > 0 || user.waiting > 0 || user.pass > pass)
    const position = positionOf(pool)
    transaction.write(rowKey('pool', pool), JSON.stringify({ ...this.#state, users: Object.fromEntries(users) }), [
      { list: poolLists.all, position },
      ...(this.waiting > 0 ? [{ list: poolLists.waiting, position }] : []),
      ...(this.isUnused ? [{ list: poolLists.unused, position: positionAt(usedAt, position) }] : []),
    ])
  }

  remove(transaction: Transaction): void {
    transaction.remove(rowKey('pool', this.name))
  }

  get name(): string {
    return this.#state.pool
  }

  get turn(): number {
    return this.#state.turn
  }

  get usedAt(): number {
    return this.#state.usedAt
  }

  get running(): number {
    return [...this.#users.values()].reduce((sum, { running }) => sum + running, 0)
  }

  get waiting(): number {
    return [...this.#users.values()].reduce((sum, { waiting }) => sum + waiting, 0)
  }

  get overrunning(): number {
    return this.#state.overrunning
  }

  get isUnused(): boolean {
    return this.running === 0 && this.waiting === 0 && this.overrunning === 0
  }

  pausesAt(now: number): boolean {
    return this.#state.pausedUntil > now
  }

  /** What the places of waiting tasks are computed from. */
  get line(): WaitingLine {
    const { pass, learnt, meanMs } = this.#state
    const users = [...this.#users].flatMap(([user, own]) =>
      own.waiting > 0 ? [{ user, pass: own.pass, waiting: own.waiting }] : [],
    )
    const { running } = this
    return { pass, running, users, ...(learnt !== undefined && { learnt }), ...(meanMs !== undefined && { meanMs }) }
  }

  /** Begins a step that may start a task. Without a 429 for a while, the pool tries more slots. */
  enter(now: number): void {
    const state = this.#state
    state.turn++
    state.usedAt = now
    if (state.learnt === undefined || state.learntAt === undefined || state.learntAt >= now) return
    const quiet = now - state.learntAt
    state.learnt += Math.floor(quiet / quietMs)
    state.learntAt = now - (quiet % quietMs)
  }

  /** A task begins to wait: a new one, or one that waits again at its old place. */
  addWaiting({ user, bytes }: StoredTask, place: number): void {
    const own = this.#user(user)
    own.waiting++
    own.waitingBytes += bytes
    own.place = Math.min(own.place ?? place, place)
  }

  /** A task waits no more. `next`: the place of the oldest one that the user still has. */
  removeWaiting({ user, bytes }: StoredTask, next: number | undefined): void {
    const own = this.#user(user)
    own.waiting--
    own.waitingBytes -= bytes
    if (next === undefined) delete own.place
    else own.place = next
  }

  /** Whether a user has no more waiting tasks than the limits allow. */
  isWithin(user: string, { waitingPerUser, waitingBytesPerUser }: PoolLimits): boolean {
    const { waiting, waitingBytes } = this.#user(user)
    const infinity = Number.POSITIVE_INFINITY
    return waiting <= (waitingPerUser ?? infinity) && waitingBytes <= (waitingBytesPerUser ?? infinity)
  }

  addRunning(user: string): void {
    this.#user(user).running++
  }

  removeRunning(user: string): void {
    this.#user(user).running--
  }

  addOverrunning(count: number): void {
    this.#state.overrunning += count
  }

  /** A user begins at the pool's pass at least. */
  beginTurn(user: string): void {
    const own = this.#user(user)
    own.pass = Math.max(own.pass, this.#state.pass)
  }

  /** The user whose turn it is. Undefined: no slot is free, nobody waits, or the pool pauses. */
  next(limits: PoolLimits, now: number): WaitingUser | undefined {
    if (this.pausesAt(now) || this.running >= slotsOf(this.#state, limits)) return undefined
    const waiting = [...this.#users].flatMap(([user, { place, ...own }]) =>
      place === undefined ? [] : [{ user, place, ...own }],
    )
    return nextUser(waiting, limits)
  }

  /** The user has had a turn. */
  takeTurn({ user, pass }: WaitingUser, limits: PoolLimits): void {
    this.#state.pass = Math.max(pass, this.#state.pass)
    const own = this.#user(user)
    own.stride = strideOf(user, limits)
    own.pass = pass + own.stride
  }

  /** The turn of a user led to nothing: it is given back. */
  returnTurn(user: string): void {
    const own = this.#user(user)
    own.pass -= own.stride
  }

  /** Records what a 429 says. The task of the rejected call does not run any more. */
  signal(at: number, { kind, pauseMs }: PoolSignal): void {
    this.enter(at)
    const state = this.#state
    if (kind === 'running') {
      state.learnt = learntSlots(this.running, state.learnt)
      state.learntAt = at
      // When a task of this pool ends, there is a slot. Without one, the slots are taken by tasks of others.
      if (this.running > 0) return
    }
    if (pauseMs === undefined && this.pausesAt(at)) return
    state.pausedUntil = Math.max(state.pausedUntil, at + (pauseMs ?? pauseMsAfter(state.pauses)))
    state.pauseKind = kind
    state.pauses++
  }

  /** The upstream has accepted a task: the next pause is short again. False: so it was. */
  endPauses(): boolean {
    const hadPauses = this.#state.pauses > 0
    this.#state.pauses = 0
    return hadPauses
  }

  /** A task has left the upstream's queue. `ranMs`: how long it had its slot, if it has ended. */
  leave(ranMs: number | undefined): void {
    const state = this.#state
    if (state.pauseKind === 'queue') state.pausedUntil = 0
    if (ranMs === undefined) return
    state.meanMs = state.meanMs === undefined ? ranMs : Math.floor((7 * state.meanMs + ranMs) / 8)
  }

  #user(user: string): PoolUser {
    const known = this.#users.get(user)
    if (known) return known
    const added = { pass: 0, stride: 0, running: 0, waiting: 0, waitingBytes: 0 }
    this.#users.set(user, added)
    return added
  }
}
