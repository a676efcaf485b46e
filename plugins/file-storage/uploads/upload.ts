import { inFlightOf } from '../../shared/http/in-flight.ts'
import { noStoreJson } from '../../shared/http/no-store.ts'
import { type Identify, requireIdentity } from '../../shared/identity/identify.ts'
import { sniffFileType } from '../../shared/media/file-type.ts'
import type { Storage } from '../storage/storage.ts'
import { announcedLength, defaultUploadLimits, type FileReceiver, tooLarge, type UploadLimits } from './receive-file.ts'
import { maxFormBytes, readUploadedFile } from './uploaded-file.ts'

/** The length of the longest body of an upload with the default limits: for servers with a limit of their own. */
export const maxUploadBodyBytes: number = Math.max(...Object.values(defaultUploadLimits)) + maxFormBytes

export interface UploadOptions {
  readonly receiver: FileReceiver
  readonly storage: Pick<Storage, 'putBytes'>
  readonly identify: Identify
  readonly limits: UploadLimits
}

/**
 * Responds to an upload: identifies the user, recognizes the file, reserves its length in the quota, and stores it
 * while it comes.
 */
export const upload = ({ receiver, storage, identify, limits }: UploadOptions) => {
  const longest = Math.max(...Object.values(limits))

  return async (request: Request): Promise<Response> => {
    const { user, token } = await requireIdentity(identify, request)
    const announced = announcedLength(request)
    if (announced !== undefined && announced > longest + maxFormBytes) throw tooLarge('file', longest)
    inFlightOf(request)?.reading(storage.putBytes)
    const file = await readUploadedFile(request)
    try {
      const media = sniffFileType(file.head)?.media
      if (media && announced !== undefined && announced > limits[media] + maxFormBytes)
        throw tooLarge(media, limits[media])
      const { id, type, url, expiresAt } = await receiver.receive(file, { user, token, request }, announced)
      return noStoreJson({
        success: true,
        upload: { id, url, content_type: type.contentType, expires_at: new Date(expiresAt).toISOString() },
      })
    } finally {
      file.close()
    }
  }
}
