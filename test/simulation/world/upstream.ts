import type { Fetch } from '../../../plugins/shared/upstream/upstream-error.ts'
import { type Account, createAccount } from '../../../src/emulator/account.ts'
import { assetReply } from '../../../src/emulator/api/asset-api.ts'
import { createRestApi, restPath } from '../../../src/emulator/api/rest.ts'
import type { Reply } from '../../../src/emulator/faults/faulty-reply.ts'
import { settingsOf } from '../../../src/emulator/options.ts'
import { isVideo, videoPath } from '../../../src/emulator/video/routes.ts'
import { simulated } from '../virtual/virtual-process.ts'
import type { Channel, Outcome, Sender } from './channel.ts'

const origin = 'http://upstream.test'

/** The emulated upstream, without a server: each request is a message of a channel. */
export class SimulatedUpstream {
  readonly account: Account
  readonly rest: { readonly url: string; readonly key: string }
  readonly video: { readonly url: string; readonly key: string }
  /** The user for whom the upstream has created a group or an asset, by its id. */
  readonly owners = new Map<string, string>()
  /** The most tasks that were queued or running at once. */
  maxActiveVideos = 0
  /** The most groups that each user had at once. */
  readonly maxGroups = new Map<string, number>()
  readonly #api
  #number = 0

  constructor(readonly channel: Channel) {
    const settings = settingsOf({
      processingMs: 1_000,
      video: { queuedMs: 200, runningMs: () => 300 + simulated.random.below(1_500) },
    })
    this.account = createAccount(settings, () => origin)
    this.#api = createRestApi(settings)
    this.rest = { url: `${origin}${restPath}`, key: settings.key }
    this.video = { url: `${origin}${videoPath}`, key: settings.video.key }
  }

  /** The `fetch` of one gateway. */
  fetchOf(gateway: Sender): Fetch {
    return (url, { method = 'GET', headers, body, signal }) => {
      const target = url.slice(origin.length)
      const bytes = body ? Buffer.from(body as Uint8Array) : Buffer.alloc(0)
      const label = `${method} ${target} ${bytes}`
      const request = { method, target, headers: { ...(headers as Record<string, string>) }, bytes, body: `${bytes}` }
      const exchange = this.channel.send(
        gateway,
        label,
        async () => {
          if (signal?.aborted) throw signal.reason
          return responseOf(this.#reply(request))
        },
        failureOf,
      )
      if (!signal) return exchange
      return new Promise((resolve, reject) => {
        const abort = () => reject(signal.reason)
        signal.addEventListener('abort', abort)
        if (signal.aborted) abort()
        exchange.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
      })
    }
  }

  #reply(request: Parameters<Account['video']['reply']>[0]): Reply {
    const number = ++this.#number
    if (isVideo(request.target)) {
      const reply = this.account.video.reply(request, number, [])
      const active = this.account.video.tasks.all().filter(({ endTime }) => endTime === undefined)
      this.maxActiveVideos = Math.max(this.maxActiveVideos, active.length)
      return reply
    }
    const action = this.#api.actionOf(request)
    const reply = assetReply({ account: this.account, api: this.#api, request, action, number, appliedFaults: [] })
    if (action.startsWith('Create') && reply.status === 200) this.#noteOwner(reply.body, request.body)
    return reply
  }

  /** A user's groups have the user's name in their description. */
  #noteOwner(answer: Uint8Array, body: string): void {
    const { Id } = JSON.parse(new TextDecoder().decode(answer)).Result
    const { Description, GroupId } = JSON.parse(body)
    const owner = GroupId ? this.owners.get(GroupId) : Description.split(' ', 1)[0]
    this.owners.set(Id, owner)
    const groups = this.account.library.groups().filter(({ id }) => this.owners.get(id) === owner)
    this.maxGroups.set(owner, Math.max(this.maxGroups.get(owner) ?? 0, groups.length))
  }
}

const responseOf = ({ status, headers, body }: Reply): Response =>
  new Response(body as Uint8Array<ArrayBuffer>, { status, headers: headers as Record<string, string> })

/** The form of a failure: none, an answer that says nothing about the effect, or silence until the gateway gives up. */
const failureOf = (outcome: Exclude<Outcome, 'done'>): Promise<Response> => {
  const { random } = simulated
  if (outcome === 'refused')
    return Promise.reject(Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' }))
  const form = random.of(['reset', 'status', 'silence'])
  if (form === 'silence') return new Promise(() => {})
  if (form === 'reset') return Promise.reject(Object.assign(new Error('connection reset'), { code: 'ECONNRESET' }))
  const status = random.of([500, 502, 503])
  return Promise.resolve(
    Response.json({ error: { code: 'InternalError', message: 'The service failed.' } }, { status }),
  )
}
