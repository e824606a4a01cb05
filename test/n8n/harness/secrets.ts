/** What the tests' configurations call their secrets, and the values. */
export const SECRETS: Record<string, string> = {
  FIRST_SECRET: 'whsec_first_0123456789',
  SECOND_SECRET: 'whsec_second_9876543210',
};
