import type { ReceivedRequest } from '../action.ts'
import type { Reply } from '../faults/faulty-reply.ts'
import { splitTarget } from '../shared/paths.ts'
import { languageOf } from './language.ts'
import { h5Callback, h5Check, linkMatches } from './link.ts'
import { facePage, redirect, type Topic } from './page.ts'
import { decisions, type FaceSession } from './sessions.ts'
import type { FaceService } from './verifications.ts'

const readMethods: readonly string[] = ['GET', 'HEAD']

/** Responds to the user's browser: the check page, its submitted form, and the callback page of the `rest` API. */
export const h5Reply = (request: ReceivedRequest, { sessions, verifications }: FaceService): Reply => {
  const [path, search] = splitTarget(request.target)
  const query = new URLSearchParams(search)
  const language = languageOf(query.get('lng') ?? '', request.headers['accept-language'])

  const check = (): Reply => {
    const session = sessions.find(query.get('bytedToken') ?? '')
    if (session === undefined || !linkMatches(query, { bytedToken: session.bytedToken, path: session.h5 })) {
      return facePage('unknown', language)
    }
    if (session.state !== 'waiting') return facePage(session.state === 'expired' ? 'expired' : 'used', language)
    return readMethods.includes(request.method) ? facePage('check', language, session.callbackUrl) : submitted(session)
  }

  const submitted = ({ bytedToken }: FaceSession): Reply => {
    const decision = decisions.find((one) => one === new URLSearchParams(request.body).get('do'))
    if (decision === undefined) return facePage('undecided', language)
    const finish = sessions.finish(bytedToken, decision)
    return finish.outcome === 'callback' ? redirect(finish.url) : facePage(finish.outcome, language)
  }

  const calledBack = (state: string): Reply => {
    const task = verifications.receiveCallback(state, query)
    return facePage(task === undefined ? 'unknown' : topicOf(task.status), language)
  }

  if (path === h5Check) return methodNotAllowed([...readMethods, 'POST'], request.method) ?? check()
  if (!path.startsWith(h5Callback)) return facePage('unknown', language)
  // no HEAD: the request changes the state of the task
  return methodNotAllowed(['GET'], request.method) ?? calledBack(path.slice(h5Callback.length))
}

const topicOf = (status: string): Topic => (status === 'failed' || status === 'expired' ? status : 'received')

const methodNotAllowed = (methods: readonly string[], method: string): Reply | undefined => {
  if (methods.includes(method)) return undefined
  return { status: 405, headers: { allow: methods.join(', ') }, body: Buffer.alloc(0) }
}
