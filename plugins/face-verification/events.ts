import type { VerificationStatus } from './status.ts'
import type { Verification } from './store.ts'

/** The event of a verification that has a new status. `data` is a JSON object. */
export const verificationEvent = (
  { id, group }: Pick<Verification, 'id' | 'group'>,
  status: VerificationStatus,
): { readonly type: `face_verification.${VerificationStatus}`; readonly data: string } => ({
  type: `face_verification.${status}`,
  data: JSON.stringify({ verification_id: id, status, group_id: status === 'verified' ? group : undefined }),
})
