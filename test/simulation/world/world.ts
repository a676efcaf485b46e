import type { FetchHandler } from '../../../plugins/concurrency-limits/index.ts'
import { noLog } from '../../../plugins/shared/problem.ts'
import type { AppOptions } from '../../../src/app/options.ts'
import type { Database } from '../../../src/store/database/database.ts'
import { sqliteDatabase } from '../../../src/store/database/sqlite.ts'
import type { Fault } from '../faults.ts'
import { beginSchedule, simulated } from '../virtual/virtual-process.ts'
import { Channel, flawless, type Outcomes, type Sender } from './channel.ts'
import { openStoreOn, seenBy } from './database.ts'
import { type GatewayParts, openGateway } from './gateway.ts'
import { SimulatedUpstream } from './upstream.ts'

/** A response that a user has read. Status 0: the connection was lost. */
export interface Answer {
  readonly status: number
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  readonly json: any
}

const connectionLost: Answer = { status: 0, text: '', json: undefined }

/** One process. */
interface Gateway extends Sender {
  isAlive: boolean
  readonly handle: FetchHandler
  /** Ends the connections of its clients. */
  readonly onKill: Set<() => void>
}

/** A part of the API. Fewer of them make a schedule cheaper. */
export type Area = 'library' | 'videos' | 'limits' | 'events'

const combinations: readonly (readonly Area[])[] = [
  ['library'],
  ['videos'],
  ['library', 'videos'],
  ['library', 'limits'],
  ['videos', 'limits'],
  ['videos', 'events'],
]

/** Gateways, their users, the database and the upstream that they share, and what a seed makes of them. */
export class World {
  readonly users = ['ann', 'bob']
  /** Names of groups: so few that users often want the same one at once. Each user has names of their own. */
  readonly names: readonly string[]
  readonly database: Database
  readonly upstream: SimulatedUpstream
  /** The users who have created videos, by the gateways' ids of them. */
  readonly videoOwners = new Map<string, string>()
  readonly violations: string[] = []
  readonly lines: string[] | undefined
  readonly #hasher = new Bun.CryptoHasher('sha256')
  readonly #databaseChannel: Channel
  readonly #upstreamChannel: Channel
  readonly #fault: Fault | undefined
  /** What is used in the schedule. */
  readonly areas: readonly Area[]
  #gateways: Gateway[] = []
  #opened = 0
  /** Whether they have failed in this schedule. */
  #databaseFails = false
  #upstreamFails = false

  constructor(seed: number, { fault, keepTrace = false }: { fault?: Fault | undefined; keepTrace?: boolean } = {}) {
    beginSchedule(seed)
    this.lines = keepTrace ? [] : undefined
    this.#fault = fault
    this.areas = simulated.random.of(combinations)
    const names = ['Cats', 'Dogs', 'Birds']
    this.names = this.areas.includes('limits') ? names : names.slice(simulated.random.below(3))
    this.database = sqliteDatabase.open('sqlite::memory:', { deadlineMs: 3_000 })
    this.#databaseChannel = new Channel('database', this.trace)
    this.#upstreamChannel = new Channel('upstream', this.trace)
    this.upstream = new SimulatedUpstream(this.#upstreamChannel)
    this.#databaseChannel.slow = simulated.random.of([0.02, 0.02, 0.2])
    this.#upstreamChannel.slow = simulated.random.of([0.02, 0.2, 0.5])
    for (let nth = 0; nth < 2; nth++) this.#openGateway()
  }

  /** Adds a line to the trace, of which a schedule is known. */
  readonly trace = (line: string): void => {
    const text = `${(simulated.timeline.now % 1e8).toFixed(3)} ${line}\n`
    this.#hasher.update(text)
    this.lines?.push(text)
  }

  hash(): string {
    return this.#hasher.digest('hex')
  }

  violate(text: string): void {
    this.trace(`VIOLATION ${text}`)
    this.violations.push(text)
  }

  /** A gateway may be killed, and answers 5xx if the database or the upstream has failed. */
  expectStatus(what: string, status: number, expected: readonly number[]): void {
    const fails = [...(this.#databaseFails ? [500, 503] : []), ...(this.#upstreamFails ? [500, 502, 503] : [])]
    if (![0, ...fails, ...expected].includes(status)) this.violate(`${what} is answered with ${status}`)
  }

  setOutcomes({ database, upstream }: { readonly database: Outcomes; readonly upstream: Outcomes }): void {
    this.#databaseFails ||= database.done < 1
    this.#upstreamFails ||= upstream.done < 1
    this.#databaseChannel.outcomes = database
    this.#upstreamChannel.outcomes = upstream
  }

  /** From now on every request is answered, and all gateways live. */
  heal(): void {
    this.setOutcomes({ database: flawless, upstream: flawless })
    while (this.gateways.length < 2) this.#openGateway()
  }

  get gateways(): readonly Gateway[] {
    return this.#gateways.filter(({ isAlive }) => isAlive)
  }

  /** Kills a gateway; a new one takes its place. */
  kill(): void {
    const killed = simulated.random.of(this.gateways)
    this.trace(`${killed.name} is killed`)
    killed.isAlive = false
    for (const end of killed.onKill) end()
    this.#openGateway()
  }

  #openGateway(): void {
    const name = `gateway-${++this.#opened}`
    const logged = (level: string) => (fields: object, message: string) =>
      this.trace(`${name} logs ${level}: ${message} ${errorOf(fields)}`)
    const levels: AppOptions['log'] = { ...noLog, warn: logged('warn'), error: logged('error') }
    const gateway: { -readonly [Key in keyof Gateway]?: Gateway[Key] } = { name, isAlive: true, onKill: new Set() }
    const sender = gateway as Gateway
    const [log, fault = () => ({})] = [levels, this.#fault]
    const database = seenBy(sender, this.database, this.#databaseChannel)
    const fetch = this.upstream.fetchOf(sender)
    const made: GatewayParts = { database, store: openStoreOn(database, { log }), fetch }
    const faulty = { ...made, ...fault(made, name) }
    // A fault of the database is one of the store on it.
    const store = faulty.database === database ? faulty.store : openStoreOn(faulty.database, { log })
    gateway.handle = openGateway({ ...faulty, store }, this.upstream, { areas: this.areas, log })
    this.#gateways.push(sender)
  }

  /** Sends a request of a user to a gateway. Resolves with its answer, which shows nothing of another user. */
  async ask(user: string, method: string, path: string, body?: object, to?: Gateway): Promise<Answer> {
    const { random } = simulated
    const gateway = to ?? random.of(this.gateways)
    const text = body && JSON.stringify(body)
    this.trace(`${user} asks ${gateway.name} ${method} ${path} ${text ?? ''}`)
    const headers = { 'x-user': user, ...(text && { 'content-type': 'application/json' }) }
    const request = new Request(`http://localhost${path}`, { method, headers, body: text ?? null })
    const answer = await new Promise<Answer>((resolve, reject) => {
      const end = () => resolve(connectionLost)
      gateway.onKill.add(end)
      read(gateway.handle(request))
        .finally(() => gateway.onKill.delete(end))
        .then(resolve, reject)
    })
    this.trace(`${user} gets ${answer.status} ${answer.text}`)
    for (const [id] of answer.text.matchAll(/\b(?:group|asset|cgt)-\d{14}-[a-z0-9]+\b/g)) {
      const owner = this.upstream.owners.get(id) ?? this.videoOwners.get(id) ?? user
      if (owner !== user) this.violate(`${user} sees ${id}, which is ${owner}'s: ${method} ${path}`)
    }
    return answer
  }

  /** Reads a stream of events until its gateway is killed. Calls `receive` with each frame. */
  async stream(
    user: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    receive: (frame: string) => void,
  ): Promise<void> {
    const gateway = simulated.random.of(this.gateways)
    this.trace(`${user} asks ${gateway.name} for a stream ${JSON.stringify(headers)}`)
    const request = new Request(`http://localhost${path}`, { headers: { 'x-user': user, ...headers } })
    await new Promise<void>((resolve) => {
      gateway.onKill.add(resolve)
      const read = async () => {
        const response = await gateway.handle(request)
        let text = ''
        if (response.status !== 200) return
        for await (const bytes of response.body ?? []) {
          if (!gateway.isAlive) return
          const frames = (text + new TextDecoder().decode(bytes)).split('\n\n')
          text = frames.pop() ?? ''
          for (const frame of frames) {
            this.trace(`${user} receives ${frame.replaceAll('\n', ' ')}`)
            receive(frame)
          }
        }
      }
      void read().finally(resolve)
    })
  }

  /** Lets time pass until the work is done. Rejects when that takes ten minutes. */
  async during<Value>(work: Promise<Value>): Promise<Value> {
    let isDone = false
    const done = work.finally(() => {
      isDone = true
    })
    done.catch(() => {})
    await simulated.timeline.run(600_000, () => isDone)
    if (!isDone) throw new Error('a request is never answered')
    return done
  }

  async close(): Promise<void> {
    for (const gateway of this.#gateways) gateway.isAlive = false
    await this.database.close()
  }
}

const read = async (response: Response | Promise<Response>): Promise<Answer> => {
  const received = await response
  const text = await received.text()
  return { status: received.status, text, json: text.startsWith('{') ? JSON.parse(text) : undefined }
}

const errorOf = (fields: object): string => {
  const { err } = fields as { err?: unknown }
  return err === undefined ? '' : String(err)
}
