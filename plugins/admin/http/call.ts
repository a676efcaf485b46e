import type { Access } from './access.ts'

/** A request of an admitted caller. */
export interface AdminCall extends Access {
  readonly request: Request
  readonly params: Readonly<Record<string, string | undefined>>
}

/** Handles the requests of a route. Throws Problem. */
export type AdminHandler = (call: AdminCall) => Promise<Response>
