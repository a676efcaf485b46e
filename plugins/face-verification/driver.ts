import type { OwnTask } from './task-lease.ts'

/** What a kind of upstream makes of the routes, and of tasks that nobody asks about. */
export interface FaceDriver {
  /** "start face verification", in the place that was reserved. */
  create(request: Request, user: string, reserved: string): Promise<Response>
  /** The answer to the creator's question how a task stands. */
  query(task: OwnTask, request: Request): Promise<Response>
  /** Looks at a task on its creator's behalf. False when somebody else does, or it is over. */
  look(id: string, signal?: AbortSignal): Promise<boolean>
}
