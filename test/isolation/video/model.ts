import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { safetyIdentifierOf } from '../../../plugins/video-generation/queue/submit.ts'
import type { VideoReply, VideoUser } from '../../video-generation/fixture.ts'
import { type Fixture, identifierSecret } from './fixture.ts'

/** A task, as far as its user knows. */
export interface ModelTask {
  readonly id: string
  readonly owner: number
  /** Words of the prompt, which only this task has. */
  readonly secret: string
  status: string
  deleted: boolean
  /** Whether it names the asset of its user. */
  readonly usesAsset: boolean
  /** The user whose asset it shows. Undefined: it shows none of another user. */
  readonly lender?: number
}

const ranks: Readonly<Record<string, number>> = { queued: 0, running: 1 }
const rankOf = (status: string): number => ranks[status] ?? 2

/** What three users have, and what must never reach another of them. */
export class Model {
  readonly users: readonly VideoUser[]
  readonly tasks: ModelTask[] = []
  /** Assets by user. */
  readonly assets: readonly string[]
  readonly fixture: Fixture
  /** The users in whose assets the persons have withdrawn their consents. */
  readonly withdrawn = new Set<number>()
  /** By lender and borrower. */
  readonly #lent = new Map<string, { readonly access: 'read' | 'use'; readonly share: string }>()
  /** How many tasks of a borrower with the asset of a lender the upstream may have, at most. */
  readonly #frozen = new Map<string, number>()
  readonly #before: number

  constructor(users: readonly VideoUser[], assets: readonly string[], fixture: Fixture) {
    this.users = users
    this.assets = assets
    this.fixture = fixture
    this.#before = fixture.video.emulator.video.tasks().length
  }

  user(index: number): VideoUser {
    return this.users[index] as VideoUser
  }

  newSecret(): string {
    return `secret ${randomUUID()}`
  }

  /** The tasks of the upstream that were made since the model was. */
  upstreamTasks() {
    return this.fixture.video.emulator.video.tasks().slice(this.#before)
  }

  accessOf(lender: number, borrower: number): 'read' | 'use' | undefined {
    return this.#lent.get(`${lender} ${borrower}`)?.access
  }

  shareOf(lender: number, borrower: number): string | undefined {
    return this.#lent.get(`${lender} ${borrower}`)?.share
  }

  lend(lender: number, borrower: number, access: 'read' | 'use', share: string): void {
    this.#lent.set(`${lender} ${borrower}`, { access, share })
    if (access === 'use') this.#frozen.delete(`${lender} ${borrower}`)
  }

  endShare(lender: number, borrower: number): void {
    this.#lent.delete(`${lender} ${borrower}`)
  }

  /** From now on the upstream gets no task of the borrower with the asset of the lender. Waits for those on their way. */
  async freeze(lender: number, borrower: number): Promise<void> {
    const { store } = this.fixture.video
    const user = this.user(borrower).id
    const shows = ({ lender: of, usesAsset }: ModelTask) => of === lender || (usesAsset && lender === borrower)
    for (const task of this.tasks.filter((each) => each.owner === borrower && shows(each)))
      while ((await store.videoTask(user, task.id))?.phase === 'submitting')
        await new Promise((resolve) => setTimeout(resolve, 2))
    this.#frozen.set(`${lender} ${borrower}`, this.#sent(lender, borrower))
  }

  #sent(lender: number, borrower: number): number {
    const asset = this.assets[lender] ?? ''
    return this.upstreamTasks().filter(
      ({ body, request }) =>
        JSON.stringify(body).includes(asset) &&
        this.tasks.some(({ owner, secret }) => owner === borrower && request.prompt.includes(secret)),
    ).length
  }

  own(user: number): ModelTask[] {
    return this.tasks.filter(({ owner, deleted }) => owner === user && !deleted)
  }

  /** Checks that a response shows nothing of other users, and no id of the upstream. */
  checkLeaks(user: number, { text }: Pick<VideoReply, 'text'>, named: readonly string[] = []): void {
    for (const task of this.tasks) {
      if (task.owner === user) continue
      assert.ok(!text.includes(task.secret), `user ${user} sees the prompt of ${task.id}: ${text}`)
      if (!named.includes(task.id)) assert.ok(!text.includes(task.id), `user ${user} sees ${task.id}: ${text}`)
    }
    for (const { id, body } of this.upstreamTasks()) {
      if (!named.includes(id)) assert.ok(!text.includes(id), `an id of the upstream: ${text}`)
      assert.ok(!text.includes(String(body.safety_identifier)), `an identifier of the upstream: ${text}`)
    }
  }

  /** Checks a task object that its owner sees. */
  checkTask(user: number, shown: { id: string; status: string; revised_prompt?: string }): void {
    const task = this.own(user).find(({ id }) => id === shown.id)
    assert.ok(task, `user ${user} sees a task that is not his: ${JSON.stringify(shown)}`)
    assert.ok(rankOf(shown.status) >= rankOf(task.status), `${task.status} became ${shown.status}`)
    if (rankOf(task.status) === 2) assert.equal(shown.status, task.status)
    task.status = shown.status
    const prompt = shown.revised_prompt
    if (prompt !== undefined) assert.ok(prompt.includes(task.secret), `another task's result: ${JSON.stringify(shown)}`)
  }

  /** Checks that each asset in a task of the upstream belongs to the user of that task. */
  async checkAssets(): Promise<void> {
    for (const { body } of this.upstreamTasks()) {
      const sent = JSON.stringify(body)
      const task = this.tasks.find(({ secret }) => sent.includes(secret))
      for (const [, id = ''] of task ? sent.matchAll(/asset:\/\/([\w-]+)/g) : []) {
        const group = this.fixture.video.emulator.library.asset(id)?.groupId ?? ''
        const owner = await this.fixture.video.store.group(group)
        if (task?.lender !== undefined && id === this.assets[task.lender]) continue
        assert.equal(owner?.user, this.user(task?.owner ?? 0).id, `the asset ${id} of another user in ${sent}`)
      }
    }
  }

  /** Ends all tasks, and checks that each has come to its end. */
  async endAll(): Promise<void> {
    const { video } = this.fixture.video.emulator
    for (const task of this.tasks.filter(({ deleted }) => !deleted)) {
      for (;;) {
        for (const { id, endTime, gone } of this.upstreamTasks()) if (endTime === undefined && !gone) video.finish(id)
        const reply = await this.user(task.owner).get(task.id)
        assert.equal(reply.status, 200, reply.text)
        this.checkLeaks(task.owner, reply)
        this.checkTask(task.owner, reply.json)
        if (rankOf(task.status) === 2) break
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    }
    this.checkUpstream()
  }

  /** Checks what the upstream has: each task once, with the identifier of its user and only with his assets. */
  checkUpstream(): void {
    const seen = new Set<string>()
    for (const { body, request } of this.upstreamTasks()) {
      const owner = this.tasks.find(({ secret }) => request.prompt.includes(secret))
      assert.ok(owner, `the upstream has a task that nobody has made: ${request.prompt}`)
      if (request.draftTaskId === undefined) {
        assert.ok(!seen.has(owner.secret), `the upstream has a task twice: ${owner.id}`)
        seen.add(owner.secret)
      }
      const expected = safetyIdentifierOf(identifierSecret, this.user(owner.owner).id)
      assert.equal(body.safety_identifier, expected, 'a task has the identifier of another user')
      assert.ok(!('priority' in body), 'a priority has reached the upstream')
      for (const [index, asset] of this.assets.entries())
        if (index !== owner.owner && index !== owner.lender)
          assert.ok(!JSON.stringify(body).includes(asset), `a foreign asset: ${owner.id}`)
    }
    for (const [pair, most] of this.#frozen) {
      const [lender = 0, borrower = 0] = pair.split(' ').map(Number)
      assert.ok(this.#sent(lender, borrower) <= most, `a task was sent after its share or consent had ended: ${pair}`)
    }
  }
}
