import { lifecycle } from './harness/lifecycle.ts';

lifecycle(16);
