import { adminRequests } from './admin.ts'
import { generationRequests } from './generation.ts'
import { libraryRequests } from './library.ts'
import { openRequests } from './open.ts'
import type { Requests } from './request.ts'
import { sessionRequests } from './session.ts'

/** A request for every route of the server, by `METHOD /path/{}`. */
export const requests: Requests = {
  ...openRequests,
  ...sessionRequests,
  ...libraryRequests,
  ...generationRequests,
  ...adminRequests,
}
