import { UpstreamUnreachableError } from '../../upstream-proxy/index.ts'
import type { CreateFaceDriver } from './driver.ts'

/** Driver for an upstream without face verification. It rejects every request with 502. */
export const noneDriver: CreateFaceDriver = () => {
  const reject = async (): Promise<never> => {
    throw new UpstreamUnreachableError(new Error('the upstream has no face verification'), false)
  }
  return { create: reject, query: reject, poll: async () => false }
}
