import type { ObjectStock, StockEntry } from '../../../src/emulator/index.ts'
import type { User } from '../../support/gateway.ts'
import type { World } from './fixture.ts'

/** Something that the account keeps, or kept. */
export interface Thing {
  readonly kind: StockEntry['kind']
  readonly id: string
  /** Index of its user; undefined: nobody's. */
  readonly owner: number | undefined
  /** Whether the gateways know whose it is: not before its owner could see it. `maybe`: they may, but its owner has not seen it. */
  known: 'yes' | 'no' | 'maybe'
  /** Until when they surely do, and from when on they surely do not any more: they write it down at some time while a request lasts. */
  until: number
  latest: number
  /** What was said in it, and before it. */
  said: string[]
  background: boolean
  streams: boolean
}

/** A plain account of whose everything is. */
export class Model {
  readonly users: readonly User[]
  readonly things = new Map<string, Thing>()
  readonly now: () => number
  readonly #stock: ObjectStock
  readonly #labels: { readonly user: number; readonly text: string }[] = []
  readonly #places = new Map<string, Pick<Thing, 'until' | 'latest'>>()
  #said = 0

  readonly #keptMs: number

  constructor({ users, emulator, clock, keptMs }: World) {
    this.users = users
    this.now = clock.now
    this.#stock = emulator.text.objects
    this.#keptMs = keptMs
  }

  /** Something that this user alone says, and never twice. */
  secret(user: number): string {
    return `${this.secretStart(user)}${++this.#said} of user`
  }

  /** What all that a user says begins with. */
  secretStart(user: number): string {
    return `${['mango', 'kiwi', 'plum'][user]}-${this.users[user]?.id ?? ''}-`
  }

  /** Whether the gateways have to know that this is the user's. */
  owns(user: number, kind: Thing['kind'], id: unknown): Thing['known'] {
    const thing = this.things.get(String(id))
    if (thing?.kind !== kind || thing.owner !== user || this.now() >= thing.latest) return 'no'
    return thing.known === 'yes' && this.now() >= thing.until ? 'maybe' : thing.known
  }

  /** A user calls a message of its own by this id. */
  label(user: number, id: string): void {
    this.#labels.push({ user, text: id })
  }

  /** Whether it may be told to this user, and sent upstream for this user. */
  mayTell(user: number, { id, owner }: Thing): boolean {
    if (owner === user || !known.test(id)) return true
    return this.#labels.some((label) => label.user === user && unescaped(label.text).includes(id))
  }

  /** A user was shown what the gateways need not know. */
  doubt(user: number, id: string): void {
    const thing = this.things.get(id)
    if (thing?.owner === user && thing.known === 'no') thing.known = 'maybe'
  }

  /** A whole response showed what is in it. */
  showOutput(
    user: number,
    response: { readonly output?: readonly { readonly id: string }[] } | undefined,
    since: number,
  ): void {
    for (const { id } of response?.output ?? []) this.show(user, id, since)
  }

  /** A list of a response's items has shown one, and may go on behind it. */
  showPlace(response: string, item: string, since: number): void {
    this.#places.set(`${response} ${item}`, { until: since + this.#keptMs, latest: this.now() + this.#keptMs })
  }

  placesOf(response: string): string[] {
    return [...this.#places.keys()].flatMap((key) =>
      key.startsWith(`${response} `) ? key.slice(response.length + 1) : [],
    )
  }

  isPlace(response: string, item: string): Thing['known'] {
    const { until = 0, latest = 0 } = this.#places.get(`${response} ${item}`) ?? {}
    if (this.now() >= latest) return 'no'
    return this.now() < until ? 'yes' : 'maybe'
  }

  /** Whether the upstream has it. */
  isThere(id: unknown): boolean {
    return this.#stock.list().some((one) => one.id === id)
  }

  ownOf(user: number, kind: Thing['kind']): Thing[] {
    return this.#of(kind).filter((thing) => this.owns(user, kind, thing.id) === 'yes')
  }

  /** What is somebody else's, or was, or is the user's no longer. */
  othersOf(user: number, kind: Thing['kind']): Thing[] {
    return this.#of(kind).filter((thing) => this.owns(user, kind, thing.id) === 'no')
  }

  #of(kind: Thing['kind']): Thing[] {
    return [...this.things.values()].filter((thing) => thing.kind === kind)
  }

  /** What has come into being upstream is the user's for whom it did; an item, the user's in whose response it is. */
  account(user: number | undefined, more: Partial<Thing> = {}): Thing[] {
    return this.#stock.list().flatMap(({ kind, id, of = '' }) => {
      if (this.things.has(id)) return []
      const around = this.things.get(of)
      // The gateway may go on reading such a stream for a while after its caller has left, and knows of the items that were whole in it.
      const known = around?.background && around.streams ? 'maybe' : 'no'
      return [this.add({ kind, id, owner: around?.owner ?? user, known, ...more })]
    })
  }

  add(given: Pick<Thing, 'kind' | 'id' | 'owner'> & Partial<Thing>): Thing {
    const plain = {
      known: 'no' as const,
      until: 0,
      latest: Number.POSITIVE_INFINITY,
      background: false,
      streams: false,
    }
    const thing = { ...plain, said: [], ...given }
    this.things.set(thing.id, thing)
    return thing
  }

  /** What a user was shown by a request that began at `since`, the gateways know from then on as that user's. */
  show(user: number, id: unknown, since: number): void {
    const thing = this.things.get(String(id))
    if (thing?.owner !== user) return
    thing.known = 'yes'
    thing.until = since + this.#keptMs
    thing.latest = this.now() + this.#keptMs
  }

  forget(id: string): void {
    const thing = this.things.get(id)
    if (thing) thing.known = 'no'
  }
}

/** Ids as upstreams make them. One of another form, which a caller has made up, may stand in the words of others by chance. */
const known = /^[a-z]+[_-]\w{20,}$/

/** Text as a lenient reader may take it. */
export const unescaped = (text: string): string =>
  text
    .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\u([0-9a-f]{4})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
