import type { Library } from '../library/library.ts'
import type { Settings } from '../options.ts'
import { createSessions, type FaceSession, type Sessions } from './sessions.ts'
import { createVerifications, type Verifications } from './verifications.ts'

/** The face verification state of an account. */
export interface FaceService {
  readonly sessions: Sessions
  readonly verifications: Verifications
  /** the URL that the user opens in a browser */
  linkOf(session: FaceSession): string
}

/**
 * Creates an empty state. `origin` returns the emulator's base URL, which is known only after it has started to listen.
 */
export const createFaces = (settings: Settings, library: Library, origin: () => string): FaceService => {
  const base = () => (settings.faceUrl || origin()).replace(/\/+$/, '')
  const sessions = createSessions(settings, library)
  const verifications = createVerifications(settings, library, sessions, base)
  return { sessions, verifications, linkOf: ({ h5 }) => base() + h5 }
}
