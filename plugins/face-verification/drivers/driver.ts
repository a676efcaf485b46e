import { UpstreamUnreachableError } from '../../upstream-proxy/index.ts'
import type { FaceContext } from '../context.ts'
import type { OwnedTask } from '../task-lease.ts'

/** How one kind of upstream serves the routes and the background polling. */
export interface FaceDriver {
  /**
   * Serves the POST route. `reserved` is the id of the reservation that the new task replaces, and `callbackUrl` the
   * address of the callback page, without the state.
   */
  create(request: Request, user: string, reserved: string, callbackUrl: string): Promise<Response>
  /** Serves the GET route of a task. */
  query(task: OwnedTask, request: Request): Promise<Response>
  /**
   * Polls the upstream for a task, as the task's creator. False when another process holds the lease, or the task has
   * ended.
   */
  poll(id: string, signal?: AbortSignal): Promise<boolean>
  /**
   * Serves the callback page, to which the upstream redirects the phone's browser. Undefined: the upstream has a page
   * of its own.
   *
   * @param consentUrl the page on which the person withdraws the consent. Undefined: there is none
   */
  callback?(request: Request, state: string, consentUrl: string | undefined): Promise<Response>
}

/** Creates a driver. */
export type CreateFaceDriver = (context: FaceContext) => FaceDriver

/** Driver for an upstream without face verification. It rejects every request with 502. */
export const noneDriver: CreateFaceDriver = () => {
  const reject = async (): Promise<never> => {
    throw new UpstreamUnreachableError(new Error('the upstream has no face verification'), false)
  }
  return { create: reject, query: reject, poll: async () => false }
}
