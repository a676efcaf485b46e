/** A size of videos, as the vendor names it. */
export interface VideoFormat {
  /** `480p`, `720p`, `1080p` or `4k`. */
  readonly resolution: string
  /** For example `16:9`. */
  readonly ratio: string
}

/** The format of a size such as `1280x720`. Undefined: no model generates that size. */
export const formatOf = (size: string): VideoFormat | undefined => formats.get(size)

/**
 * The size of a video in pixels. Undefined for a format that is not in the table, such as the ratio `adaptive`. Models
 * of the family 1.0 have slightly other sizes.
 */
export const sizeOf = ({ resolution, ratio }: VideoFormat): string | undefined =>
  firstSizes.get(`${resolution} ${ratio}`)

const ratios = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9']

/**
 * The vendor's table (https://www.volcengine.com/docs/82379/1520757): sizes in the order of `ratios`, first those of
 * the newest models.
 */
const table: Readonly<Record<string, readonly string[]>> = {
  '480p': [
    '864x496 752x560 640x640 560x752 496x864 992x432',
    '854x480 752x560 640x640 560x752 480x854 992x432',
    '864x480 736x544 640x640 544x736 480x864 960x416',
    '832x480 736x544 624x624 544x736 480x832 960x416',
  ],
  '720p': [
    '1280x720 1112x834 960x960 834x1112 720x1280 1470x630',
    '1248x704 1120x832 960x960 832x1120 704x1248 1504x640',
  ],
  '1080p': [
    '1920x1080 1664x1248 1440x1440 1248x1664 1080x1920 2206x946',
    '1920x1088 1664x1248 1440x1440 1248x1664 1088x1920 2176x928',
  ],
  '4k': ['3840x2160 3326x2494 2880x2880 2494x3326 2160x3840 4398x1886'],
}

const formats = new Map<string, VideoFormat>()
const firstSizes = new Map<string, string>()
for (const [resolution, rows] of Object.entries(table)) {
  for (const row of rows) {
    for (const [index, size] of row.split(' ').entries()) {
      const format = { resolution, ratio: ratios[index] ?? '' }
      formats.set(size, format)
      const name = `${format.resolution} ${format.ratio}`
      if (!firstSizes.has(name)) firstSizes.set(name, size)
    }
  }
}

/** All sizes, for a message. */
export const knownSizes: string = [...formats.keys()].join(', ')
