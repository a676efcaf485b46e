import type { ReceivedRequest } from '../asset-api.ts'
import type { Reply } from '../faulty-reply.ts'
import { splitTarget } from '../paths.ts'
import type { FaceService } from './faces.ts'
import { languageOf } from './language.ts'
import { linkMatches } from './link.ts'
import { facePage, redirect } from './page.ts'
import type { Topic } from './page-texts.ts'
import { H5_CALLBACK, H5_CHECK } from './paths.ts'
import { DECISIONS, type FaceSession } from './sessions.ts'

const READ_METHODS: readonly string[] = ['GET', 'HEAD']

/** Responds to the user's browser: the check page, its submitted form, and the callback page of the `rest` API. */
export function h5Reply(request: ReceivedRequest, { sessions, verifications }: FaceService): Reply {
  const [path, search] = splitTarget(request.target)
  const query = new URLSearchParams(search)
  const language = languageOf(query.get('lng') ?? '', request.headers['accept-language'])

  function check(): Reply {
    const session = sessions.find(query.get('bytedToken') ?? '')
    if (session === undefined || !linkMatches(query, { bytedToken: session.bytedToken, path: session.h5 })) {
      return facePage('unknown', language)
    }
    if (session.state !== 'waiting') return facePage(session.state === 'expired' ? 'expired' : 'used', language)
    return READ_METHODS.includes(request.method) ? facePage('check', language, session.callbackUrl) : submitted(session)
  }

  function submitted({ bytedToken }: FaceSession): Reply {
    const decision = DECISIONS.find((one) => one === new URLSearchParams(request.body).get('do'))
    if (decision === undefined) return facePage('undecided', language)
    const finish = sessions.finish(bytedToken, decision)
    return finish.outcome === 'callback' ? redirect(finish.url) : facePage(finish.outcome, language)
  }

  function calledBack(state: string): Reply {
    const task = verifications.receiveCallback(state, query)
    return facePage(task === undefined ? 'unknown' : topicOf(task.status), language)
  }

  if (path === H5_CHECK) return methodNotAllowed([...READ_METHODS, 'POST'], request.method) ?? check()
  if (!path.startsWith(H5_CALLBACK)) return facePage('unknown', language)
  // no HEAD: the request changes the state of the task
  return methodNotAllowed(['GET'], request.method) ?? calledBack(path.slice(H5_CALLBACK.length))
}

function topicOf(status: string): Topic {
  return status === 'failed' || status === 'expired' ? status : 'received'
}

function methodNotAllowed(methods: readonly string[], method: string): Reply | undefined {
  if (methods.includes(method)) return undefined
  return { status: 405, headers: { allow: methods.join(', ') }, body: Buffer.alloc(0) }
}
