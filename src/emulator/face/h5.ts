import type { Reply } from '../faulty-reply.ts'
import type { Received } from '../shape.ts'
import type { Faces } from './faces.ts'
import { languageOf } from './language.ts'
import { opens } from './link.ts'
import { pageOf, sentBack } from './page.ts'
import { H5_CALLBACK, H5_CHECK } from './paths.ts'
import { DECISIONS, type FaceSession } from './sessions.ts'
import type { Topic } from './words.ts'

const READ_METHODS: readonly string[] = ['GET', 'HEAD']

/** Responds to the user's browser: the check page, its submitted form, and the callback page of the `rest` API. */
export function h5Reply(request: Received, { sessions, verifications }: Faces): Reply {
  const [path = '', search = ''] = request.target.split(/\?(.*)/s)
  const query = new URLSearchParams(search)
  const language = languageOf(query.get('lng') ?? '', request.headers['accept-language'])

  function check(): Reply {
    const session = sessions.find(query.get('bytedToken') ?? '')
    if (session === undefined || !opens(query, { bytedToken: session.bytedToken, path: session.h5 })) {
      return pageOf('unknown', language)
    }
    if (session.state !== 'waiting') return pageOf(session.state === 'expired' ? 'expired' : 'used', language)
    return READ_METHODS.includes(request.method) ? pageOf('check', language, session.callbackUrl) : submitted(session)
  }

  function submitted({ bytedToken }: FaceSession): Reply {
    const decision = DECISIONS.find((one) => one === new URLSearchParams(request.body).get('do'))
    if (decision === undefined) return pageOf('undecided', language)
    const finish = sessions.finish(bytedToken, decision)
    return finish.outcome === 'callback' ? sentBack(finish.url) : pageOf(finish.outcome, language)
  }

  function calledBack(state: string): Reply {
    const task = verifications.receiveCallback(state, query)
    return pageOf(task === undefined ? 'unknown' : topicOf(task.status), language)
  }

  if (path === H5_CHECK) return methodNotAllowed([...READ_METHODS, 'POST'], request.method) ?? check()
  if (!path.startsWith(H5_CALLBACK)) return pageOf('unknown', language)
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
