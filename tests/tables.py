"""Small tables of real measurements, with where they are from."""

import numpy as np

from prunesymnet.data import make_dataset


def nitrogen_pentoxide():
    """How fast N2O5 decays, per second, at six temperatures in kelvin (F. Daniels and E. H. Johnston, J. Am. Chem. Soc.
    43, 53, 1921). The errors are relative, so each row has the weight 1/k**2."""
    k = np.array([7.87e-7, 3.46e-5, 1.35e-4, 4.98e-4, 1.50e-3, 4.87e-3])
    T = [273.0, 298.0, 308.0, 318.0, 328.0, 338.0]
    return make_dataset(T, k, names=["T"], target="k", weights=1 / k**2)


def cars():
    """Speed in miles per hour and stopping distance in feet of 50 cars (M. Ezekiel, 1930; `cars` in R)."""
    # fmt: off
    speed = [
        4, 4, 7, 7, 8, 9, 10, 10, 10, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15, 16, 16, 17,
        17, 17, 18, 18, 18, 18, 19, 19, 19, 20, 20, 20, 20, 20, 22, 23, 24, 24, 24, 24, 25,
    ]
    dist = [
        2, 10, 4, 22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28, 26, 34, 34, 46, 26, 36, 60, 80, 20, 26, 54, 32, 40,
        32, 40, 50, 42, 56, 76, 84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120, 85,
    ]
    # fmt: on
    return make_dataset(np.array(speed, float), np.array(dist, float), names=["speed"], target="dist")


def stackloss():
    """Loss of ammonia in a plant on 21 days, by air flow, water temperature and acid (K. A. Brownlee, 1960; `stackloss`
    in R)."""
    # fmt: off
    rows = np.array([
        (80, 27, 89, 42), (80, 27, 88, 37), (75, 25, 90, 37), (62, 24, 87, 28), (62, 22, 87, 18), (62, 23, 87, 18),
        (62, 24, 93, 19), (62, 24, 93, 20), (58, 23, 87, 15), (58, 18, 80, 14), (58, 18, 89, 14), (58, 17, 88, 13),
        (58, 18, 82, 11), (58, 19, 93, 12), (50, 18, 89, 8), (50, 18, 86, 7), (50, 19, 72, 8), (50, 19, 79, 8),
        (50, 20, 80, 9), (56, 20, 82, 15), (70, 20, 91, 15),
    ], float)
    # fmt: on
    return make_dataset(rows[:, :3], rows[:, 3], names=["air", "water", "acid"], target="loss")


def nile():
    """The flow of the Nile at Aswan in each year from 1871 to 1970, 10**8 cubic metres (`Nile` in R)."""
    # fmt: off
    flow = [
        1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180, 799, 958, 1140,
        1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833, 701, 916, 692, 1020, 1050, 969,
        831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768, 845, 864, 862, 698, 845, 744, 796, 1040, 759, 781, 865,
        845, 944, 984, 897, 822, 1010, 771, 676, 649, 846, 812, 742, 801, 1040, 860, 874, 848, 890, 744, 749, 838, 1050,
        918, 986, 797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740,
    ]
    # fmt: on
    return make_dataset(np.arange(1871.0, 1971.0), np.array(flow, float), names=["year"], target="flow")


def carbon_dioxide():
    """Carbon dioxide in the air at Mauna Loa, parts per million: the mean of each year, 1959 to 2000 (NOAA)."""
    # fmt: off
    ppm = [
        315.98, 316.91, 317.64, 318.45, 318.99, 319.62, 320.04, 321.37, 322.18, 323.05, 324.62, 325.68, 326.32, 327.46,
        329.68, 330.19, 331.13, 332.03, 333.84, 335.41, 336.84, 338.76, 340.12, 341.48, 343.15, 344.87, 346.35, 347.61,
        349.31, 351.69, 353.20, 354.45, 355.70, 356.54, 357.21, 358.96, 360.97, 362.74, 363.88, 366.84, 368.54, 369.71,
    ]
    # fmt: on
    return make_dataset(np.arange(1959.0, 2001.0), np.array(ppm), names=["year"], target="ppm")


def star_cluster():
    """Logarithms of the temperature and the light of 47 stars of the cluster CYG OB1; four are red giants (P. J.
    Rousseeuw and A. M. Leroy, Robust Regression and Outlier Detection, 1987; `star` in R's faraway)."""
    # fmt: off
    temp = [
        4.37, 4.56, 4.26, 4.56, 4.3, 4.46, 3.84, 4.57, 4.26, 4.37, 3.49, 4.43, 4.48, 4.01, 4.29, 4.42, 4.23, 4.42,
        4.23, 3.49, 4.29, 4.29, 4.42, 4.49, 4.38, 4.42, 4.29, 4.38, 4.22, 3.48, 4.38, 4.56, 4.45, 3.49, 4.23, 4.62,
        4.53, 4.45, 4.53, 4.43, 4.38, 4.45, 4.5, 4.45, 4.55, 4.45, 4.42,
    ]
    light = [
        5.23, 5.74, 4.93, 5.74, 5.19, 5.46, 4.65, 5.27, 5.57, 5.12, 5.73, 5.45, 5.42, 4.05, 4.26, 4.58, 3.94, 4.18,
        4.18, 5.89, 4.38, 4.22, 4.42, 4.85, 5.02, 4.66, 4.66, 4.9, 4.39, 6.05, 4.42, 5.1, 5.22, 6.29, 4.34, 5.62,
        5.1, 5.22, 5.18, 5.57, 4.62, 5.06, 5.34, 5.34, 5.54, 4.98, 4.5,
    ]
    # fmt: on
    return make_dataset(np.array(temp), np.array(light), names=["temp"], target="light")
