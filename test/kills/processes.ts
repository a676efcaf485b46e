import type { Emulator, EmulatorAction } from '../../src/emulator/index.ts'
import type { ServerProcess } from '../support/server.ts'
import type { Random } from '../usage-limits/money/random.ts'
import type { Killed } from './history.ts'

/** At which moment a process is killed: an event of the load, and no time. */
export interface KillPosition {
  /** Which of the processes. */
  readonly slot: number
  /**
   * `sent`, `answered`: it has been sent `count` further requests, or has answered them. `before`, `after`: the upstream
   * has got the next call of the action, before or after its effect.
   */
  readonly moment: 'sent' | 'answered' | 'before' | 'after'
  readonly count: number
  readonly action: EmulatorAction
  /** Whether the next position may be reached before this process listens again. */
  readonly overlaps: boolean
}

/** Calls that change something, and come often. */
const actions: readonly EmulatorAction[] = [
  ...([
    'CreateAssetGroup',
    'UpdateAssetGroup',
    'CreateAsset',
    'CreateAsset',
    'CreateAsset',
    'UpdateAsset',
    'DeleteAsset',
  ] as const),
  ...(['CreateVideoTask', 'CreateVideoTask', 'CreateChatCompletion', 'CreateResponse'] as const),
  ...(['CreateVisualValidateSession', 'GetVisualValidateResult'] as const),
]

/** The positions of a seed. */
export const killPositions = (random: Random, kills: number, slots: number): readonly KillPosition[] =>
  Array.from({ length: kills }, () => ({
    slot: random.integer(0, slots - 1),
    moment: random.pick(['sent', 'answered', 'answered', 'before', 'after', 'after'] as const),
    count: random.integer(1, 12),
    action: random.pick(actions),
    overlaps: slots > 1 && random.chance(0.2),
  }))

/** A place of a process. */
class Slot {
  readonly #start: () => Promise<ServerProcess>
  #server: ServerProcess | undefined
  /** The process, when it listens. */
  ready: Promise<ServerProcess>
  inFlight = 0

  constructor(start: () => Promise<ServerProcess>) {
    this.#start = start
    this.ready = this.#open()
  }

  /** Kills the process, and starts another one. Returns whether there was one. */
  replace(): boolean {
    const killed = this.#server
    if (!killed) return false
    this.#server = undefined
    this.ready = killed.kill('SIGKILL').then(() => this.#open())
    return true
  }

  async #open(): Promise<ServerProcess> {
    this.#server = await this.#start()
    return this.#server
  }
}

interface Armed extends Pick<KillPosition, 'slot' | 'moment'> {
  left: number
  readonly reached: () => void
}

/** Processes that are killed and started again. A client of a killed one waits until the next one listens. */
export class Processes {
  readonly #onKill: (killed: Killed) => void
  readonly #slots: readonly Slot[]
  #armed: Armed | undefined

  constructor(start: () => Promise<ServerProcess>, count: number, onKill: (killed: Killed) => void) {
    this.#onKill = onKill
    this.#slots = Array.from({ length: count }, () => new Slot(start))
  }

  get count(): number {
    return this.#slots.length
  }

  /** The process of a slot, when it listens. */
  at(slot: number): Promise<ServerProcess> {
    return this.#slot(slot).ready
  }

  /** A request is on its way. */
  sent(slot: number): void {
    this.#slot(slot).inFlight++
    // By then it has left this process.
    setImmediate(() => this.#pass(slot, 'sent'))
  }

  /** A request has its answer, or its connection was lost. */
  ended(slot: number, isAnswered: boolean): void {
    this.#slot(slot).inFlight--
    if (isAnswered) this.#pass(slot, 'answered')
  }

  /** Kills a process at a position, and starts another one, whose start goes on. */
  async kill({ slot, moment, count, action }: KillPosition, { faults }: Emulator): Promise<void> {
    // A process that still starts cannot reach a position.
    await this.at(slot)
    if (moment === 'sent' || moment === 'answered') {
      await new Promise<void>((resolve) => {
        this.#armed = { slot, moment, left: count, reached: resolve }
      })
      return
    }
    const hold = faults.add({ kind: 'hold', when: moment, action })
    await hold.waitForHits()
    this.#end(slot)
    hold.remove()
  }

  #pass(slot: number, moment: KillPosition['moment']): void {
    const armed = this.#armed
    if (armed?.slot !== slot || armed.moment !== moment || --armed.left > 0) return
    this.#armed = undefined
    this.#end(slot)
    armed.reached()
  }

  #end(slot: number): void {
    const { inFlight } = this.#slot(slot)
    if (this.#slot(slot).replace()) this.#onKill({ slot, at: Date.now(), inFlight })
  }

  #slot(nth: number): Slot {
    const slot = this.#slots[nth]
    if (!slot) throw new Error(`there is no process ${nth}`)
    return slot
  }
}
