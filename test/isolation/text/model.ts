import type { StoredObject, StoredObjects } from '../../../src/emulator/index.ts'
import type { User } from '../../support/gateway.ts'
import type { Fixture } from './fixture.ts'

/** An object that the upstream account stores or has stored. */
export interface ModelObject {
  readonly kind: StoredObject['kind']
  readonly id: string
  /** Index of the user who owns it. Undefined: it has no owner. */
  readonly owner: number | undefined
  /** Whether the gateways know the owner: `yes` once the owner has seen it. `maybe`: the owner has not seen it, but the gateways may have recorded it. */
  known: 'yes' | 'no' | 'maybe'
  /** The record is valid at least until this time. Two times, because a gateway records it at some time during a request. */
  until: number
  /** The record is expired at this time at the latest. */
  latest: number
  /** Texts of the object and of its predecessors. */
  history: string[]
  background: boolean
  streams: boolean
}

/** The expected owner and state of every object. */
export class Model {
  readonly users: readonly User[]
  readonly objects = new Map<string, ModelObject>()
  readonly now: () => number
  readonly #store: StoredObjects
  readonly #labels: { readonly user: number; readonly text: string }[] = []
  readonly #cursors = new Map<string, Pick<ModelObject, 'until' | 'latest'>>()
  #secrets = 0

  readonly #retentionMs: number

  constructor({ users, emulator, clock, retentionMs }: Fixture) {
    this.users = users
    this.now = clock.now
    this.#store = emulator.text.objects
    this.#retentionMs = retentionMs
  }

  /** A text that only this user sends, and only once. */
  secret(user: number): string {
    return `${this.secretStart(user)}${++this.#secrets} of user`
  }

  /** The common prefix of a user's texts. */
  secretStart(user: number): string {
    return `${['mango', 'kiwi', 'plum'][user]}-${this.users[user]?.id ?? ''}-`
  }

  /** Whether the gateways must know that the user owns the object. */
  owns(user: number, kind: ModelObject['kind'], id: unknown): ModelObject['known'] {
    const object = this.objects.get(String(id))
    if (object?.kind !== kind || object.owner !== user || this.now() >= object.latest) return 'no'
    return object.known === 'yes' && this.now() >= object.until ? 'maybe' : object.known
  }

  /** The user has given this id to an input message. */
  label(user: number, id: string): void {
    this.#labels.push({ user, text: id })
  }

  /** Whether a response to the user, or an upstream call for the user, may contain the id. */
  mayReveal(user: number, { id, owner }: ModelObject): boolean {
    if (owner === user || !known.test(id)) return true
    return this.#labels.some((label) => label.user === user && unescaped(label.text).includes(id))
  }

  /** The user has seen an object that the gateways need not record. */
  mayKnow(user: number, id: string): void {
    const object = this.objects.get(id)
    if (object?.owner === user && object.known === 'no') object.known = 'maybe'
  }

  /** The user has seen the output items of a complete response. */
  showOutput(
    user: number,
    response: { readonly output?: readonly { readonly id: string }[] } | undefined,
    since: number,
  ): void {
    for (const { id } of response?.output ?? []) this.show(user, id, since)
  }

  /** A list of input items has shown this item: it may be the cursor of the next page. */
  showCursor(response: string, item: string, since: number): void {
    this.#cursors.set(`${response} ${item}`, {
      until: since + this.#retentionMs,
      latest: this.now() + this.#retentionMs,
    })
  }

  cursorsOf(response: string): string[] {
    return [...this.#cursors.keys()].flatMap((key) =>
      key.startsWith(`${response} `) ? key.slice(response.length + 1) : [],
    )
  }

  isCursor(response: string, item: string): ModelObject['known'] {
    const { until = 0, latest = 0 } = this.#cursors.get(`${response} ${item}`) ?? {}
    if (this.now() >= latest) return 'no'
    return this.now() < until ? 'yes' : 'maybe'
  }

  /** Whether the upstream has it. */
  isThere(id: unknown): boolean {
    return this.#store.list().some((one) => one.id === id)
  }

  ownOf(user: number, kind: ModelObject['kind']): ModelObject[] {
    return this.#of(kind).filter((object) => this.owns(user, kind, object.id) === 'yes')
  }

  /** Objects, existing or deleted, that the user does not own or no longer owns. */
  othersOf(user: number, kind: ModelObject['kind']): ModelObject[] {
    return this.#of(kind).filter((object) => this.owns(user, kind, object.id) === 'no')
  }

  #of(kind: ModelObject['kind']): ModelObject[] {
    return [...this.objects.values()].filter((object) => object.kind === kind)
  }

  /** Adds the new objects of the upstream. Their owner is `user`; the owner of an item is the owner of its response. */
  addNew(user: number | undefined, more: Partial<ModelObject> = {}): ModelObject[] {
    return this.#store.list().flatMap(({ kind, id, of = '' }) => {
      if (this.objects.has(id)) return []
      const container = this.objects.get(of)
      // The gateway may read such a stream after the caller has disconnected. Then it knows the items that were complete.
      const known = container?.background && container.streams ? 'maybe' : 'no'
      return [this.add({ kind, id, owner: container?.owner ?? user, known, ...more })]
    })
  }

  add(given: Pick<ModelObject, 'kind' | 'id' | 'owner'> & Partial<ModelObject>): ModelObject {
    const plain = {
      known: 'no' as const,
      until: 0,
      latest: Number.POSITIVE_INFINITY,
      background: false,
      streams: false,
    }
    const object = { ...plain, history: [], ...given }
    this.objects.set(object.id, object)
    return object
  }

  /** A request that began at `since` has shown the object to its owner: from then on the gateways know the owner. */
  show(user: number, id: unknown, since: number): void {
    const object = this.objects.get(String(id))
    if (object?.owner !== user) return
    object.known = 'yes'
    object.until = since + this.#retentionMs
    object.latest = this.now() + this.#retentionMs
  }

  forget(id: string): void {
    const object = this.objects.get(id)
    if (object) object.known = 'no'
  }
}

/** The form of upstream ids. An invented id of another form may occur in another user's text by chance. */
const known = /^[a-z]+[_-]\w{20,}$/

/** Text as a tolerant server decodes it. */
export const unescaped = (text: string): string =>
  text
    .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\u([0-9a-f]{4})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
