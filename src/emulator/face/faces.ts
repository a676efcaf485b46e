import type { Library } from '../library.ts'
import type { Settings } from '../settings.ts'
import { createSessions, type FaceSession, type Sessions } from './sessions.ts'
import { createVerifications, type Verifications } from './verifications.ts'

/** Face verification of one account. */
export interface Faces {
  readonly sessions: Sessions
  readonly verifications: Verifications
  /** the address that the person opens */
  linkOf(session: FaceSession): string
}

/** `origin`: where the emulator listens, known only when it does. */
export function createFaces(settings: Settings, library: Library, origin: () => string): Faces {
  const base = () => (settings.faceUrl || origin()).replace(/\/+$/, '')
  const sessions = createSessions(settings, library)
  const verifications = createVerifications(settings, library, sessions, base)
  return { sessions, verifications, linkOf: ({ h5 }) => base() + h5 }
}
