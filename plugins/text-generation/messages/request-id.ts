import { currentRequestId } from '../../shared/http/current-request.ts'

/** Adds the id of the request in the header of Anthropic's API, from which its clients read it. */
export const withRequestIdHeader = (response: Response): Response => {
  const id = currentRequestId()
  if (id !== undefined) response.headers.set('request-id', id)
  return response
}
