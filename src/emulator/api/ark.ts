import type { ReceivedRequest } from '../action.ts'
import type { Settings } from '../options.ts'
import { splitTarget } from '../shared/paths.ts'
import { isAction } from './actions.ts'
import { ArkError, invalid, missing, wrongMethod } from './ark-error.ts'
import { type AssetApi, bodyMembers } from './asset-api.ts'
import { apiVersion, flat, isFaceAction, service } from './envelope.ts'
import { fieldsOf } from './fields.ts'
import { checkSignature } from './signature.ts'

const projectDefault = 'default'

/** The vendor's own API: signed requests to `POST /?Action=…&Version=2024-01-01`. */
export const createArkApi = (settings: Settings): AssetApi => {
  const { accessKey, secretKey, region, clock } = settings
  const signer = { accessKey, secretKey, region, service: service }

  const check = (request: ReceivedRequest): void => {
    const { pathname, searchParams } = urlOf(request)
    if (pathname !== '/') throw new ArkError(404, 'InvalidPath', 'The path must be /.')
    if (request.method !== 'POST') throw wrongMethod(request.method, 'POST')
    const action = searchParams.get('Action')
    const version = searchParams.get('Version')
    if (!action) throw missing('Action')
    if (!version) throw missing('Version')
    if (version !== apiVersion || !isAction(action)) {
      throw new ArkError(404, 'InvalidAction', `There is no action ${action} in version ${version}.`)
    }
    checkSignature({ ...request, body: request.bytes }, signer, clock())
  }

  const actionOf = (request: ReceivedRequest) => urlOf(request).searchParams.get('Action') ?? ''

  return {
    name: 'ark',
    secret: secretKey,
    actionOf,
    envelopeFor: (request, envelope) =>
      settings.faceEnvelope === 'flat' && isFaceAction(actionOf(request)) ? flat(envelope) : envelope,
    parseRequest(request) {
      check(request)
      const members = bodyMembers(request)
      const project = fieldsOf(members).text('ProjectName') || projectDefault
      if (project.length > 64) throw invalid('ProjectName', 'The parameter ProjectName is too long.')
      return { action: actionOf(request), isRest: false, project, members }
    },
  }
}

const urlOf = ({ target }: ReceivedRequest): URL => {
  const [path, query] = splitTarget(target)
  const url = new URL('http://upstream/')
  url.pathname = path
  url.search = query
  return url
}
